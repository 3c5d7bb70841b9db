// Every sentence of the page, in French and in English: [fr, en]. {name} is filled in.
//
// French is written with ordinary spaces; `speaker` sets the no-break ones.

import { format, percent } from "./numbers.js";

const WORDS = {
  title: ["Le laboratoire", "The lab"],
  motto: [
    "Déplacez un paramètre et regardez la loi, l’arbre ou la variance changer.",
    "Move a parameter and watch the law, the tree or the variance change.",
  ],
  language: ["Français", "English"],
  languages: ["Langue", "Language"],
  panels: ["Ce que le laboratoire montre", "What the lab shows"],
  controls: ["Paramètres", "Parameters"],
  home: ["Documentation", "Documentation"],
  "home.address": ["../fr/index.html", "../index.html"],
  footer: [
    "Les mêmes nombres que Murmure : un test compare cette page à la bibliothèque Python. Rien de ce que vous "
      + "tapez ne quitte votre navigateur.",
    "The same numbers as Murmure: a test compares this page with the Python library. Nothing that you type leaves"
      + " your browser.",
  ],
  yes: ["oui", "yes"],
  no: ["non", "no"],
  points: ["{value} points", "{value} points"],
  probability: ["probabilité", "probability"],
  density: ["densité", "density"],
  variance: ["variance", "variance"],
  mechanism: ["mécanisme", "mechanism"],
  star: ["Var* (f = 0)", "Var* (f = 0)"],

  "notice.panel": [
    "Il n’y a pas de panneau « {given} » : voici l’arbre.",
    "There is no panel “{given}”: here is the tree.",
  ],
  "notice.unknown": [
    "Le paramètre « {given} » n’existe pas ici : il est ignoré.",
    "There is no parameter “{given}” here: it is ignored.",
  ],
  "notice.choice": [
    "{name} : « {given} » n’est pas un choix possible ; la page utilise « {used} ».",
    "{name}: “{given}” is not a choice; the page uses “{used}”.",
  ],
  "notice.number": [
    "{name} : « {given} » n’est pas un nombre ; la page utilise {used}.",
    "{name}: “{given}” is not a number; the page uses {used}.",
  ],
  "notice.range": [
    "{name} : entre {min} et {max} ; au lieu de « {given} », la page utilise {used}.",
    "{name}: from {min} to {max}; instead of “{given}”, the page uses {used}.",
  ],
  "notice.whole": [
    "{name} : un nombre entier ; au lieu de « {given} », la page utilise {used}.",
    "{name}: a whole number; instead of “{given}”, the page uses {used}.",
  ],

  "tree.short": ["Arbre de Warner", "Warner’s tree"],
  "tree.title": ["L’arbre de Warner", "Warner’s tree"],
  "tree.intro": [
    "Deux pièces, lancées en secret : la première décide si la personne dit la vérité, sinon la seconde répond à "
      + "sa place. (Cours 000, 001 et 003.)",
    "Two coins, tossed in secret: the first decides whether the person tells the truth; if not, the second "
      + "answers in their place. (Lectures 000, 001 and 003.)",
  ],
  "tree.truth": ["Probabilité de dire la vérité, t", "Probability of telling the truth, t"],
  "tree.yes": ["Probabilité de oui à la seconde pièce, s", "Probability of yes of the second coin, s"],
  "tree.f": ["Proportion des personnes qui pensent oui, f", "Share of people who mean yes, f"],
  "tree.n": ["Nombre de personnes, N", "Number of people, N"],
  "tree.figure": ["La probabilité de chaque chemin", "The probability of each path"],
  "tree.drawing": [
    "Arbre des deux pièces, avec la probabilité des quatre feuilles",
    "Tree of the two coins, with the probability of its four leaves",
  ],
  "tree.truth.node": ["vérité", "truth"],
  "tree.coin.node": ["pièce", "coin"],
  "tree.summary": [
    "Une personne qui pense oui répond oui avec probabilité {a}, une personne qui pense non avec probabilité {c}."
      + " Le mécanisme coûte exactement ε = {epsilon}.",
    "A person who means yes answers yes with probability {a}, one who means no with probability {c}. The "
      + "mechanism costs exactly ε = {epsilon}.",
  ],
  "tree.matrix": ["La réponse selon ce que pense la personne", "The answer, given what the person means"],
  "tree.reports.yes": ["répond oui", "answers yes"],
  "tree.reports.no": ["répond non", "answers no"],
  "tree.means.yes": ["pense oui", "means yes"],
  "tree.means.no": ["pense non", "means no"],
  "tree.fact.epsilon": ["ε exact", "exact ε"],
  "tree.fact.expected": ["oui attendus, r", "expected yes, r"],
  "tree.fact.variance": ["variance de l’estimation", "variance of the estimate"],
  "tree.fact.error": ["erreur type", "standard error"],
  "tree.fact.sample": ["variance, personnes tirées au sort", "variance, people drawn at random"],
  "tree.best": [
    "Avec une seconde pièce équilibrée, rien n’est perdu : pour une réponse oui ou non, aucun mécanisme à ε = "
      + "{epsilon} n’est plus précis.",
    "With a fair second coin nothing is wasted: for a yes or no, no mechanism at ε = {epsilon} is more precise.",
  ],
  "tree.wasted": [
    "Pour le même ε = {epsilon}, une première pièce à {t} et une seconde équilibrée diviseraient la variance par "
      + "{ratio}.",
    "At the same ε = {epsilon}, a first coin at {t} and a fair second one would divide the variance by {ratio}.",
  ],
  "tree.certain.yes": [
    "La seconde pièce ne dit jamais oui : un oui est toujours la vérité, et la personne qui le donne n’est pas "
      + "protégée.",
    "The second coin never says yes: a yes is always the truth, and the person who gives it is not protected.",
  ],
  "tree.certain.no": [
    "La seconde pièce dit toujours oui : un non est toujours la vérité, et la personne qui le donne n’est pas "
      + "protégée.",
    "The second coin always says yes: a no is always the truth, and the person who gives it is not protected.",
  ],
  "tree.formulas": [
    "L’estimateur, pour la proportion f (r est la proportion des oui observés) et pour le nombre fN (o est leur nombre), puis"
      + " sa variance quand les N personnes sont fixées ; si elles sont elles-mêmes tirées au sort, ajoutez f(1 − "
      + "f)/N.",
    "The estimator, for the share f (r is the share of observed yes) and for the count fN (o is their number), "
      + "then its variance when the N people are fixed; if they are themselves drawn at random, add f(1 − f)/N.",
  ],

  "grr.short": ["GRR", "GRR"],
  "grr.title": ["Réponse randomisée généralisée (GRR)", "Generalised randomised response (GRR)"],
  "grr.intro": [
    "La vraie valeur sort avec probabilité p, chacune des k − 1 autres avec probabilité q. (Cours 000 et 003.)",
    "The true value is reported with probability p, each of the k − 1 others with probability q. (Lectures 000 "
      + "and 003.)",
  ],
  "grr.epsilon": ["Budget, ε", "Budget, ε"],
  "grr.k": ["Nombre de valeurs, k", "Number of values, k"],
  "grr.x": ["Valeur de la personne, x", "The person’s value, x"],
  "grr.f": ["Proportion de cette valeur, f", "Share of this value, f"],
  "grr.n": ["Nombre de personnes, N", "Number of people, N"],
  "grr.figure": ["Ce que répond une personne dont la valeur est {x}", "What a person whose value is {x} reports"],
  "grr.drawing": [
    "Barres : la valeur {x} avec probabilité {p}, chaque autre avec probabilité {q}",
    "Bars: value {x} with probability {p}, each other one with probability {q}",
  ],
  "grr.report": ["réponse", "report"],
  "grr.summary": [
    "La vérité sort avec probabilité {p}, chaque autre valeur avec probabilité {q}. Leur rapport est exp(ε) = "
      + "{ratio}, quelle que soit la personne : c’est toute la preuve.",
    "The truth is reported with probability {p}, each other value with probability {q}. Their ratio is exp(ε) = "
      + "{ratio}, whoever the person is: that is the whole proof.",
  ],
  "grr.fact.lie": ["réponses autres que la vérité", "reports other than the truth"],
  "grr.fact.variance": ["variance à f = {f}", "variance at f = {f}"],
  "grr.fact.error": ["erreur type à cette proportion", "standard error at that share"],
  "grr.formulas": [
    "Les deux probabilités, l’estimateur de la proportion f (r est la proportion des réponses égales à la valeur) et sa variance.",
    "The two probabilities, the estimator of the share f (r is the share of reports that equal the value) and its"
      + " variance.",
  ],

  "laws.short": ["Laplace, escalier", "Laplace, staircase"],
  "laws.title": ["Laplace borné et escalier", "Bounded Laplace and staircase"],
  "laws.intro": [
    "Un nombre entre 0 et 1, randomisé sans sortir de ses bornes. Comparez la loi juste à ce que le cours "
      + "imprime. (Cours 000.)",
    "A number between 0 and 1, randomised without leaving its bounds. Compare the right law with what the lecture"
      + " prints. (Lecture 000.)",
  ],
  "laws.law": ["Loi", "Law"],
  "laws.law.laplace": ["Laplace borné", "bounded Laplace"],
  "laws.law.staircase": ["escalier", "staircase"],
  "laws.form": ["Version", "Version"],
  "laws.form.right": ["juste", "right"],
  "laws.form.redrawn": ["tirée de nouveau jusqu’à tomber dans les bornes", "redrawn until inside"],
  "laws.form.printed": ["telle qu’imprimée", "as printed"],
  "laws.gamma": ["Largeur du palier central, γ", "Width of the central step, γ"],
  "laws.gamma.absolute": [
    "celle de la bibliothèque du cours (écart absolu)",
    "that of the lecture’s library (absolute error)",
  ],
  "laws.gamma.variance": ["celle de la formule du cours (variance)", "that of the lecture’s formula (variance)"],
  "laws.epsilon": ["Budget demandé, ε", "Budget asked for, ε"],
  "laws.x": ["Valeur de la personne, x", "The person’s value, x"],
  "laws.report": ["réponse", "report"],
  "laws.value": ["valeur de la personne", "the person’s value"],
  "laws.bounds": ["bornes", "bounds"],
  "laws.laplace.figure": ["Laplace autour de la valeur", "Laplace around the value"],
  "laws.staircase.figure": ["Un escalier autour de la valeur", "A staircase around the value"],
  "laws.fact.asked": ["ε demandé", "ε asked for"],
  "laws.fact.exact": ["ε exact de cette loi", "exact ε of this law"],
  "laws.fact.inner": ["ε de la même forme sans bornes", "ε of the same shape without bounds"],
  "laws.fact.mean": ["réponse moyenne", "mean report"],
  "laws.fact.outside": ["réponses hors des bornes", "reports outside the bounds"],
  "laws.fact.inside": ["tirages gardés", "draws that are kept"],
  "laws.fact.mass": ["masse totale", "total mass"],
  "laws.fact.gamma": ["γ", "γ"],
  "laws.laplace.right.curve": ["la loi de Murmure, par centièmes", "Murmure’s law, by hundredths"],
  "laws.laplace.right.drawing": [
    "Densité de Laplace borné sur [0, 1], la plus haute à la valeur",
    "Density of bounded Laplace on [0, 1], highest at the value",
  ],
  "laws.laplace.right.summary": [
    "Laplace borné coûte exactement ε = {exact}, atteint entre les deux bornes {from} et {to}. La réponse moyenne "
      + "est {mean} pour une valeur de {x} : la loi est biaisée vers le milieu.",
    "Bounded Laplace costs exactly ε = {exact}, attained between the two ends {from} and {to}. The mean report is"
      + " {mean} for a value of {x}: the law is biased towards the middle.",
  ],
  "laws.laplace.right.why": [
    "Tirer à nouveau jusqu’à tomber dans les bornes divise la densité par une constante qui dépend de x. Ici tout"
      + " va bien, parce que la perte est la plus grande entre les deux bornes et que leurs constantes y sont égales. "
      + "Une moyenne de telles réponses reste biaisée : elle ne se publie pas avec une barre d’erreur.",
    "Redrawing until inside divides the density by a constant that depends on x. Here all is well, because the "
      + "loss is largest between the two ends, where the constants are equal. A mean of such reports is still biased:"
      + " it cannot be published with an error bar.",
  ],
  "laws.laplace.printed.curve": ["le listing imprimé : un seul tirage", "the printed listing: one draw"],
  "laws.laplace.printed.reference": ["la loi juste, bornée", "the right, bounded law"],
  "laws.laplace.printed.drawing": [
    "Densité de Laplace sur [−1, 2], qui dépasse des bornes 0 et 1",
    "Density of Laplace on [−1, 2], which leaves the bounds 0 and 1",
  ],
  "laws.laplace.printed.summary": [
    "Dans le listing imprimé, return est à l’intérieur de la boucle : rien n’est jamais tiré de nouveau, et {outside}"
      + " des réponses sortent des bornes.",
    "In the printed listing, return is inside the loop: nothing is ever redrawn, and {outside} of the reports "
      + "leave the bounds.",
  ],
  "laws.laplace.printed.why": [
    "Un seul tirage de Laplace d’échelle 1/ε coûte encore ε quand les bornes sont publiques, et il est sans biais"
      + " ; ce n’est simplement pas la loi de la diapositive, ni celle que le cours compare à l’escalier.",
    "A single draw of Laplace’s law of scale 1/ε still costs ε when the bounds are public, and it is unbiased; it"
      + " is just not the law of the slide, nor the one that the lecture compares with the staircase.",
  ],
  "laws.staircase.right.curve": ["la loi de Murmure, par centièmes", "Murmure’s law, by hundredths"],
  "laws.staircase.right.drawing": [
    "Densité à deux paliers sur [0, 1], haute autour de la valeur",
    "Density with two levels on [0, 1], high around the value",
  ],
  "laws.staircase.right.summary": [
    "Calibré après la coupe aux bornes, l’escalier coûte exactement ε = {exact} : sa forme est celle d’un ε"
      + " de {inner} sans bornes.",
    "Calibrated after the cut to the bounds, the staircase costs exactly ε = {exact}: its shape is that of an ε "
      + "of {inner} without bounds.",
  ],
  "laws.staircase.right.why": [
    "La constante de chaque x dépend de x, et ici elle coûte : une personne au bord voit la moitié de son palier "
      + "coupée, une personne au milieu non. Murmure choisit donc la forme pour que la loi réellement exécutée coûte "
      + "ε.",
    "The constant of each x depends on x, and here it costs: a person at the edge loses half of the central step,"
      + " a person in the middle does not. So Murmure chooses the shape such that the law that really runs costs ε.",
  ],
  "laws.staircase.redrawn.curve": [
    "escalier tiré de nouveau jusqu’à tomber dans les bornes",
    "staircase redrawn until inside",
  ],
  "laws.staircase.redrawn.reference": ["la loi calibrée au même ε", "the law calibrated to the same ε"],
  "laws.staircase.redrawn.drawing": [
    "Densité à deux paliers sur [0, 1], plus pointue que la loi calibrée",
    "Density with two levels on [0, 1], sharper than the calibrated law",
  ],
  "laws.staircase.redrawn.summary": [
    "On demande ε = {epsilon}, la loi coûte {exact} : tirer de nouveau n’est pas un post-traitement.",
    "ε = {epsilon} is asked for, the law costs {exact}: redrawing is not post-processing.",
  ],
  "laws.staircase.redrawn.why": [
    "La perte est atteinte pour une réponse près de 0, entre une personne à 0 et une personne à 1/2 : la première"
      + " tire à nouveau bien plus souvent. C’est un budget plus grand, offert à l’escalier quand le cours le compare"
      + " à Laplace. Ramener un seul tirage à la borne la plus proche ne coûterait rien.",
    "The loss is attained for a report near 0, between a person at 0 and one at 1/2: the first redraws far more "
      + "often. It is a larger budget, given to the staircase when the lecture compares it with Laplace. Moving a "
      + "single draw to the nearest bound would cost nothing.",
  ],
  "laws.staircase.printed.curve": ["densité imprimée, facteur bʲ", "printed density, factor bʲ"],
  "laws.staircase.printed.reference": ["densité juste, facteur bʲ⁺¹", "right density, factor bʲ⁺¹"],
  "laws.staircase.printed.drawing": [
    "Densité imprimée et densité juste sur [−1, 2]",
    "Printed density and right density on [−1, 2]",
  ],
  "laws.staircase.printed.summary": [
    "La densité imprimée a une masse totale de {mass} au lieu de 1 : ce n’est pas une loi, et elle n’a pas d’ε.",
    "The printed density has a total mass of {mass} instead of 1: it is not a law, and it has no ε.",
  ],
  "laws.staircase.printed.why": [
    "Il manque un facteur b = exp(−ε) : le premier palier à côté du centre doit être à b fois sa hauteur, et non "
      + "à la même. Avec bʲ⁺¹, la constante du cours est la bonne.",
    "A factor b = exp(−ε) is missing: the first step beside the centre belongs at b times its height, not at the "
      + "same. With bʲ⁺¹ the lecture’s constant is right.",
  ],

  "varstar.short": ["Var* et choix", "Var* and choice"],
  "varstar.title": ["Quel mécanisme ? Var* et variance exacte", "Which mechanism? Var* and exact variance"],
  "varstar.intro": [
    "Le cours choisit le mécanisme dont la variance est la plus petite pour une valeur que personne n’a (f = 0) :"
      + " Var*. Déplacez f pour voir la variance exacte. (Cours 003.)",
    "The lecture chooses the mechanism with the smallest variance for a value that nobody has (f = 0): Var*. Move"
      + " f to see the exact variance. (Lecture 003.)",
  ],
  "varstar.epsilon": ["Budget, ε", "Budget, ε"],
  "varstar.k": ["Nombre de valeurs, k", "Number of values, k"],
  "varstar.n": ["Nombre de personnes, N", "Number of people, N"],
  "varstar.f": ["Proportion de la valeur, f", "Share of the value, f"],
  "varstar.figure": ["La variance d’une proportion estimée, selon ε", "The variance of an estimated share, against ε"],
  "varstar.drawing": [
    "Variance selon ε, une courbe par mécanisme, pour k = {k}, N = {n} et f = {f}",
    "Variance against ε, one curve per mechanism, for k = {k}, N = {n} and f = {f}",
  ],
  "varstar.axis": ["variance à f = {f}", "variance at f = {f}"],
  "varstar.chosen": ["ε choisi ; le point : la plus petite", "chosen ε; the dot: the smallest"],
  "varstar.table": [
    "À ε = {epsilon}, pour k = {k} valeurs et N = {n} personnes",
    "At ε = {epsilon}, for k = {k} values and N = {n} people",
  ],
  "varstar.at": ["à f = {f}", "at f = {f}"],
  "varstar.mean": ["moyenne", "mean"],
  "varstar.error": ["erreur type (points)", "standard error (points)"],
  "varstar.same": [
    "Le choix : {best}, la plus petite variance pour Var*, pour cette proportion et en moyenne sur les valeurs.",
    "The choice: {best}, the smallest variance for Var*, for this share and on average over the values.",
  ],
  "varstar.differ": [
    "Var* choisit {star} ; à f = {f}, le plus précis est {share} ; en moyenne sur les valeurs, {mean} : c’est ce "
      + "dernier que Murmure conseille.",
    "Var* chooses {star}; at f = {f} the most precise is {share}; on average over the values, {mean}: this last "
      + "one is what Murmure advises.",
  ],
  "varstar.caution": [
    "Var* sert à choisir, jamais de barre d’erreur : dès que f n’est pas 0, la vraie variance est autre. La "
      + "moyenne sur les k valeurs ne suppose rien : la variance est une droite en f et la somme des proportions vaut 1, donc "
      + "sa moyenne est sa valeur à 1/k.",
    "Var* is for choosing, never an error bar: as soon as f is not 0, the true variance differs. The mean over "
      + "the k values assumes nothing: the variance is a straight line in f and shares sum to 1, so its mean is its "
      + "value at 1/k.",
  ],

  "varstar.jumps": [
    "SubsetSelection choisit la taille w de son ensemble pour f = 0 : à une autre proportion, sa courbe saute là où w change.",
    "SubsetSelection chooses the size w of its set for f = 0: at another share, its curve jumps where w changes.",
  ],

  "records.short": ["Plusieurs attributs", "Several attributes"],
  "records.title": [
    "Plusieurs attributs : diviser, tirer, inventer",
    "Several attributes: split, sample, invent",
  ],
  "records.intro": [
    "Chaque personne a d attributs de k valeurs. SPL divise le budget entre eux, SMP en tire un et le dit, RS+FD"
      + " en tire un et invente les autres sans dire lequel n’est pas fictif. (Cours 003.)",
    "Each person has d attributes with k values. SPL splits the budget among them, SMP draws one and says which, "
      + "RS+FD draws one and invents the others without saying which is real. (Lecture 003.)",
  ],
  "records.epsilon": ["Budget, ε", "Budget, ε"],
  "records.d": ["Nombre d’attributs, d", "Number of attributes, d"],
  "records.k": ["Valeurs par attribut, k", "Values of each attribute, k"],
  "records.n": ["Nombre de personnes, N", "Number of people, N"],
  "records.f": ["Proportion de la valeur, f", "Share of the value, f"],
  "records.budget": ["RS+FD dépense ε", "RS+FD spends ε"],
  "records.budget.record": ["pour l’enregistrement entier", "for the whole record"],
  "records.budget.paper": ["comme dans l’article, amplifié", "as in the paper, amplified"],
  "records.figure": [
    "La variance d’une proportion, selon le nombre d’attributs",
    "The variance of a share, against the number of attributes",
  ],
  "records.drawing": [
    "Variance selon le nombre d’attributs, une courbe par solution",
    "Variance against the number of attributes, one curve per solution",
  ],
  "records.chosen": ["d choisi ; le point : la plus petite", "chosen d; the dot: the smallest"],
  "records.table": [
    "À ε = {epsilon}, pour d = {d} attributs de k = {k} valeurs et N = {n} personnes",
    "At ε = {epsilon}, for d = {d} attributes with k = {k} values and N = {n} people",
  ],
  "records.solution": ["solution", "solution"],
  "records.variance": ["variance à f = {f}", "variance at f = {f}"],
  "records.record": ["ε, enregistrement", "ε, record"],
  "records.attribute": ["ε, un attribut", "ε, one attribute"],
  "records.best": [
    "La plus petite variance : {best}, {variance}, pour ε = {epsilon} sur l’enregistrement entier.",
    "The smallest variance: {best}, {variance}, at ε = {epsilon} for the whole record.",
  ],
  "records.dearer": [
    "La plus petite variance : {best}, {variance}, mais l’enregistrement entier coûte alors {record} et non {epsilon}.",
    "The smallest variance: {best}, {variance}, but the whole record then costs {record} and not {epsilon}.",
  ],
  "records.why.record": [
    "À budget égal pour l’enregistrement, RS+FD n’est jamais plus précis que SMP : c’en est un post-traitement. "
      + "Son intérêt est ailleurs : personne ne sait quel attribut n’est pas fictif, et un seul attribut coûte moins. Partager "
      + "gagne quand ε est grand.",
    "At an equal budget for the record, RS+FD is never more precise than SMP: it is a post-processing of it. It "
      + "buys something else: nobody knows which attribute is real, and one attribute costs less. Splitting wins when"
      + " ε is large.",
  ],
  "records.why.paper": [
    "L’article randomise l’attribut tiré à ε′ = ln(d(exp(ε) − 1) + 1) = {inner} : c’est ce que coûte "
      + "l’enregistrement entier. ε reste vrai pour deux personnes qui ne diffèrent que par un attribut, quand tous "
      + "ont le même nombre de valeurs.",
    "The paper randomises the drawn attribute at ε′ = ln(d(exp(ε) − 1) + 1) = {inner}: this is what the whole "
      + "record costs. ε remains true for two people who differ in one attribute only, when all have equally many "
      + "values.",
  ],
};

const COLUMN = { fr: 0, en: 1 };

/** Ordinary spaces become no-break ones before ; : ! ? % and inside « ». */
const french = text => text.replace(/ (?=[;!?])/g, "\u202f").replace(/ (?=[:»%])|(?<=«) /g, "\u00a0");

/** say(key, fills) in one language, with say.number, say.power, say.cell, say.logarithm, say.percent and say.lang. */
export function speaker(lang) {
  const say = (key, fills = {}) => {
    if (!Object.hasOwn(WORDS, key)) throw new Error(`no words for ${key}`);
    const text = WORDS[key][COLUMN[lang]].replace(/\{(\w+)\}/g, (_, name) => {
      if (!(name in fills)) throw new Error(`${key} needs ${name}`);
      return fills[name];
    });
    return lang === "fr" ? french(text) : text;
  };
  say.lang = lang;
  say.number = (value, digits = 4) => format(value, lang, digits);
  say.power = value => format(value, lang, 4, 4, true);  // variances of a table: all as a × 10ⁿ
  say.cell = (value, digits = 4) => format(value, lang, digits, digits);  // of a table: as many digits in every row
  // Lectures write ln 3: so does the page, where epsilon is the logarithm of a whole number.
  say.logarithm = epsilon => {
    const E = Math.round(Math.exp(epsilon));
    const shown = format(epsilon, lang, 6);
    return E > 1 && E < 1000 && Math.abs(Math.log(E) - epsilon) < 1e-12 ? `ln\u00a0${E} ≈ ${shown}` : shown;
  };
  say.percent = (value, digits) => percent(value, lang, digits);
  return say;
}

export const PAIRS = Object.entries(WORDS);
