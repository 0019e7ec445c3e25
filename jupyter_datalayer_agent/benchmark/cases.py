"""All cases of the services that are installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec

from ..services import builtin
from ..services.benchmarks import Case, Expect
from ..services.service import Service
from .sentences import sentence_cases

# Ordinary messages, as users of notebooks send them: none is for a service.
#
# They measure how often a message that is no service's is taken for one, or costs a request to find
# that out.


MESSAGES = """\
What does this notebook do?
Explain the second cell
Plot mpg against weight
plot the distribution of horsepower
Draw a scatter plot of price vs. area, coloured by city
make the legend bigger
Fix the error in cell 2
Why does this cell fail?
why is my model overfitting?
delete cell 3
Rename the variable df to cars
Add a docstring to the function
Run all cells
run this cell again
Restart the kernel and run everything
What is the mean of mpg by origin?
how many missing values are there?
Drop the rows where horsepower is missing
Convert the column date to datetime
convert mpg to litres per 100 km
Merge the two data frames on id
join orders and customers by customer_id in a new cell
Group by year and sum the sales
Filter the cars with more than 6 cylinders
Create a new column power_to_weight
Sort by price descending
Show me the first ten rows
Read cars.csv into a data frame
load the parquet file and look at it
Save the data frame as clean.csv in the last cell
Write a test for parse_date
Refactor this into functions
Speed this loop up
Use vectorised operations instead of apply
Add a heading before each section
Write an introduction for this notebook
Summarise the results in Markdown
Translate the comments to English
Is this statistically significant?
Do a t-test between the two groups
Fit a linear regression of mpg on weight
Train a random forest and show the feature importances
Use cross validation
Tune the hyperparameters of the model
Show the confusion matrix
What accuracy does the model have?
Normalise the features first
Split the data into train and test
Make a pivot table of sales by region and month
Make a heatmap of the correlations
Change the figure size to 10 by 6
Use a log scale on the y axis
Set the theme of the plot to dark
save the figure as plot.png
Which cars have the best mileage?
Are there duplicates in the id column?
Is the data clean?
Remove the outliers
Impute the missing values with the median
Encode the categorical columns
What does n_estimators mean?
Explain this traceback
I get KeyError: 'horsepwr', what is wrong?
ModuleNotFoundError: No module named 'foo'
Undo the last change
continue
thanks!
ok, and now for Europe only
no, use a bar chart instead
Do the same for trucks
What did we discuss yesterday?
Who are you?
What can you do?
Write a SQL query that counts orders per day
How do I write a list comprehension?
What is the difference between loc and iloc?
Simulate 1000 coin flips
Solve this equation with sympy
Compute a moving average over 7 days
Resample the time series to months
Forecast the next 12 months
Cluster the customers with k-means
Reduce the dimensions with PCA and plot them
Is the notebook reproducible?
Check the units of the columns
Erkläre mir diese Zelle
Zeichne ein Histogramm von mpg
Warum schlägt diese Zelle fehl?
Lösche die letzte Zelle
Explique ce que fait ce notebook
Trace un histogramme de mpg
Supprime la cellule 3
¿Qué hace este cuaderno?
Dibuja un gráfico de barras
Why is the kernel dead?
interrupt it
How long did that take?
make it prettier
Add error bars
Use the data from the attached file
"""

CASES = [
    Case(f"ordinary-{number}", message, Expect(), kind="ordinary")
    for number, message in enumerate(MESSAGES.splitlines(), 1)
]


ORDINARY = "ordinary"
SENTENCES = "sentences"


def cases_of(service: Service) -> Sequence[Case]:
    """The cases of a service: its own, or those beside the declaration of a built-in one."""
    if service.cases is not None:
        return service.cases()
    name = f"{builtin.__name__}.cases.{service.id.replace('-', '_')}"
    if find_spec(name) is None:
        return []
    return list(import_module(name).CASES)


def all_cases(services: Iterable[Service]) -> list[tuple[str, Case]]:
    """Each case with the service that it belongs to."""
    own = [(service.id, case) for service in services for case in cases_of(service)]
    return [
        *own,
        *((ORDINARY, case) for case in CASES),
        *((SENTENCES, case) for case in sentence_cases()),
    ]
