"""French for the sentences that other packages produce: methods, guarantees, public facts; and the demo's answers.

The keys are regular expressions over those English sentences: a sentence that changes there must change here.
"""

from __future__ import annotations

TERMS = {  # how figures and guarantees were computed; (.*) matches the part that varies
    "exact inversion": "inversion exacte",
    "exact inversion \\(cells with few reports\\), score \\(the others\\)": (
        "inversion exacte (cellules de peu de réponses), la méthode du score (les autres)"
    ),
    "inversion of the law of the reports": "inversion de la loi des réponses",
    "Gaffke": "la méthode de Gaffke",
    "score": "la méthode du score",
    "score, weighted": "la méthode du score, pondérée",
    "delta": "la méthode delta",
    "Clopper-Pearson mapped": "la méthode de Clopper et Pearson",
    "Clopper-Pearson": "la méthode de Clopper et Pearson",
    "Clopper-Pearson of two moments": "la méthode de Clopper et Pearson appliquée à deux moments",
    "Clopper-Pearson at the widest law": "la méthode de Clopper et Pearson, pour la loi la plus large",
    "MOVER with Wilson limits": "la méthode MOVER, bornes de Wilson",
    "(.*), simultaneous \\(Bonferroni\\)": "\\1, simultanés (Bonferroni)",
    "known exactly": "exactement connues",
    "enumerated": "énumération",
    "closed form over classes of reports": "forme close, par classes de réponses",
    "closed form, two bits differ": "forme close, deux bits diffèrent",
    "closed form, one report": "forme close, une seule réponse",
    "closed form over two halves": "forme close, sur deux moitiés",
    "closed form, largest over hashes": "forme close, le plus grand sur les hachages",
    "largest over the public coin": "le plus grand sur la pièce publique",
    "sum over attributes": "somme sur les attributs",
    "largest over attributes": "le plus grand sur les attributs",
    "largest over attributes; the draw is public": "le plus grand sur les attributs ; le tirage est public",
    "largest over public draws of (.*)": "le plus grand sur les tirages publics de \\1",
    "hidden draw, classes of reports": "tirage caché, par classes de réponses",
    "(.*); (.*) fresh reports add up \\(sequential composition\\)": "\\1 ; \\2 réponses neuves s’additionnent",
    "nothing is randomised": "rien n’est rendu aléatoire",
    "reports near a bound can only err inward, so their average leans to the middle": (
        "près d’une borne, une réponse ne peut se tromper que vers l’intérieur : leur moyenne penche vers le milieu"
    ),
    "nobody reported this column": "personne n’a répondu pour cette colonne",
    "nobody with a weight reported this column": "personne ayant un poids n’a répondu pour cette colonne",
    "nobody reported both columns": "personne n’a répondu pour les deux colonnes",
    "rows stand in random order: intervals hold over such orders, not over runs on one order of rows": (
        "les lignes sont dans un ordre aléatoire : les intervalles valent sur de tels ordres, et non sur des tirages "
        "répétés d’un même ordre"
    ),
    "the priors come from the release of plan (.*), which was paid for on its own": (
        "les lois a priori viennent de la publication du plan \\1, payée à part"
    ),
    "each person followed the plan's randomisation with fair coins, cards or another fair draw": (
        "chacun a suivi le tirage que prescrit le plan, avec des pièces, des cartes ou un autre tirage équitables"
    ),
    "(.*); each person followed the plan's randomisation with fair coins, cards or another fair draw": (
        "\\1 ; chacun a suivi le tirage que prescrit le plan, avec des pièces, des cartes ou un autre tirage équitables"
    ),
    "the innocuous answer is independent of the sensitive one and unknown to whoever sees the report": (
        "la réponse anodine est indépendante de la réponse sensible, et inconnue de qui voit ce qui est envoyé"
    ),
    "the mechanism and its integers": "le mécanisme et ses entiers",
    "who takes part": "qui participe",
    # noise at the curator
    "exact inversion of the noise": "inversion exacte du bruit",
    "Fieller": "la méthode de Fieller",
    "Garwood": "la méthode de Garwood",
    "MOVER with Garwood limits": "la méthode MOVER, bornes de Garwood",
    "MOVER of Fieller and Clopper-Pearson": "la méthode MOVER, bornes de Fieller et de Clopper et Pearson",
    "MOVER of Fieller and Clopper-Pearson of two moments": (
        "la méthode MOVER, bornes de Fieller et de Clopper et Pearson (deux moments)"
    ),
    "MOVER of delta and Clopper-Pearson": "la méthode MOVER, bornes de la méthode delta et de Clopper et Pearson",
    "inversion of the distribution function": "inversion de la fonction de répartition",
    "the whole public range \\(too few people to divide by\\)": (
        "tout l’intervalle public (trop peu de personnes pour diviser)"
    ),
    "the noise is as large as the number of people, so that there is nothing to divide by": (
        "le bruit est aussi grand que le nombre de personnes : il n’y a rien par quoi diviser"
    ),
    "a row that is left out shows that it held a value outside the public domain": (
        "une ligne écartée montre qu’elle contenait une valeur hors du domaine public"
    ),
    "discrete Laplace: closed form": "Laplace discrète : forme close",
    "discrete Laplace: closed form, rounding of the tables counted": (
        "Laplace discrète : forme close, l’arrondi des tables étant compté"
    ),
    "staircase: by stairs that are moved, rounding of the tables counted": (
        "escalier : par marches déplacées, l’arrondi des tables étant compté"
    ),
    "discrete Gaussian: Canonne, Kamath, Steinke 2020, Theorem 14 and Corollary 13": (
        "gaussienne discrète : Canonne, Kamath, Steinke 2020, théorème 14 et corollaire 13"
    ),
    "permute-and-flip: closed form": "permute-and-flip : forme close",
    "exponential mechanism: closed form": "mécanisme exponentiel : forme close",
    "(.*), and (.*) in (\\d+) of (\\d+)": "\\1, et \\2 pour \\3 sur \\4",
    "(.*); then cut to a public range": "\\1 ; puis coupé à un intervalle public",
    "(.*); rho = (.*) \\(zero-concentrated\\), said at delta = (.*)": (
        "\\1 ; rho = \\2 (concentrée en zéro), dite à delta = \\3"
    ),
    "the curator sees every row": "le curateur voit chaque ligne",
    "the noise and its integers": "le bruit et ses entiers",
    "how many rows there are": "combien il y a de lignes",
    "column (.*) tells people apart; of one person (.*) rows are read, and others are left out": (
        "la colonne \\1 distingue les personnes ; de chacune, \\2 lignes sont lues et les autres écartées"
    ),
    "(.*); at least (\\d+) parties are honest, stay, and add their share of the noise": (
        "\\1 ; au moins \\2 parties sont honnêtes, restent, et ajoutent leur part du bruit"
    ),
    "at least (\\d+) parties are honest, stay, and add their share of the noise": (
        "au moins \\1 parties sont honnêtes, restent, et ajoutent leur part du bruit"
    ),
    "its sums were cut to a public range after noise was added": (
        "ses sommes ont été coupées à un intervalle public après l’ajout du bruit"
    ),
    "a choice has none; it is the likelier the farther ahead the chosen one is": (
        "un choix n’en a pas ; il est d’autant plus probable que l’élu est loin devant"
    ),
}
FRENCH = TERMS | {  # and the answers of the demo's class
    "no": "non",
    "yes": "oui",
    "never": "jamais",
    "once": "une fois",
    "a few times": "quelques fois",
    "often": "souvent",
    "every time": "à chaque fois",
}
