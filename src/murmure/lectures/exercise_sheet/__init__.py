"""The exercise sheet of lecture 001 on randomised response: its functions, its facts, and the page to print."""

from murmure.lectures.exercise_sheet.student_code import estimation_nbre_oui_initiaux, reponse_randomisee

__all__ = ["estimation_nbre_oui_initiaux", "reponse_randomisee"]
