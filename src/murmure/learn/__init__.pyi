# Written by script/stubs from the names of the package. Change the package, then run it again.

from murmure.core.errors import SchemaWarning as SchemaWarning
from murmure.learn.folds import FoldsWarning as FoldsWarning
from murmure.learn.folds import SearchCost as SearchCost
from murmure.learn.folds import search_cost as search_cost
from murmure.learn.kmeans import KMeans as KMeans
from murmure.learn.linear import LinearRegression as LinearRegression
from murmure.learn.logistic import LogisticRegression as LogisticRegression
from murmure.learn.model_file import load_model as load_model
from murmure.learn.model_file import save_model as save_model
from murmure.learn.naive_bayes import NaiveBayes as NaiveBayes
from murmure.plan.privacy import Central as Central
from murmure.plan.privacy import Clear as Clear
from murmure.plan.privacy import Local as Local
from murmure.plan.privacy import Secure as Secure

LEARNERS: dict[str, str]
PUBLIC: dict[str, str]
__all__ = [
    "Central",
    "Clear",
    "FoldsWarning",
    "KMeans",
    "LinearRegression",
    "Local",
    "LogisticRegression",
    "NaiveBayes",
    "SchemaWarning",
    "SearchCost",
    "Secure",
    "load_model",
    "save_model",
    "search_cost",
]
