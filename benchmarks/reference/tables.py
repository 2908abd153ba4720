"""Small tables from textbooks, typed in, and a made one: the reference programs and, through tables.json, the tests.

Every table is a `Table` whose cells are text (numbers too, as printed in the book); only the made one lacks cells.

- play tennis (Quinlan 1986), with nominal columns and, in the later form, numeric temperature and humidity;
- nine movies;
- twelve restaurants (Russell and Norvig, the waiting problem);
- contact lenses, 24 patients (Cendrowska 1987).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Columns of text cells (`None` is missing); the target is one of the columns, by convention the last."""

    name: str
    columns: dict[str, list[str | None]]
    nominal: tuple[str, ...]
    target: str

    @property
    def n_rows(self) -> int:
        return len(self.columns[self.target])

    @property
    def features(self) -> list[str]:
        return [name for name in self.columns if name != self.target]

    def levels(self, column: str) -> list[str]:
        """Levels that occur in a nominal column, in the order of their code points."""
        return sorted({cell for cell in self.columns[column] if cell is not None})


def from_text(name: str, text: str, numeric: tuple[str, ...] = ()) -> Table:
    """Table from lines of blank-separated words, the first of which names the columns."""
    header, *rows = [line.split() for line in text.strip().splitlines()]
    columns: dict[str, list[str | None]] = {label: [row[i] for row in rows] for i, label in enumerate(header)}
    return Table(name, columns, tuple(label for label in header if label not in numeric), header[-1])


TENNIS = from_text(
    "tennis",
    """
    outlook temperature humidity windy play
    sunny hot high false no
    sunny hot high true no
    overcast hot high false yes
    rainy mild high false yes
    rainy cool normal false yes
    rainy cool normal true no
    overcast cool normal true yes
    sunny mild high false no
    sunny cool normal false yes
    rainy mild normal false yes
    sunny mild normal true yes
    overcast mild high true yes
    overcast hot normal false yes
    rainy mild high true no
    """,
)

TENNIS_NUMERIC = from_text(
    "tennis_numeric",
    """
    outlook temperature humidity windy play
    sunny 85 85 false no
    sunny 80 90 true no
    overcast 83 86 false yes
    rainy 70 96 false yes
    rainy 68 80 false yes
    rainy 65 70 true no
    overcast 64 65 true yes
    sunny 72 95 false no
    sunny 69 70 false yes
    rainy 75 80 false yes
    sunny 75 70 true yes
    overcast 72 90 true yes
    overcast 81 75 false yes
    rainy 71 91 true no
    """,
    numeric=("temperature", "humidity"),
)

MOVIES = from_text(
    "movies",
    """
    type length director famous_actors liked
    comedy short adamson no yes
    animated short lasseter no no
    drama medium adamson no yes
    animated long lasseter yes no
    comedy long lasseter yes no
    drama medium singer yes yes
    animated short singer no yes
    comedy long adamson yes yes
    drama medium lasseter no yes
    """,
)

RESTAURANT = from_text(
    "restaurant",
    """
    alternate bar fri_sat hungry patrons price raining reservation type wait_estimate will_wait
    Yes No No Yes Some $$$ No Yes French 0-10 Yes
    Yes No No Yes Full $ No No Thai 30-60 No
    No Yes No No Some $ No No Burger 0-10 Yes
    Yes No Yes Yes Full $ No No Thai 10-30 Yes
    Yes No Yes No Full $$$ No Yes French >60 No
    No Yes No Yes Some $$ Yes Yes Italian 0-10 Yes
    No Yes No No None $ Yes No Burger 0-10 No
    No No No Yes Some $$ Yes Yes Thai 0-10 Yes
    No Yes Yes No Full $ Yes No Burger >60 No
    Yes Yes Yes Yes Full $$$ No Yes Italian 10-30 No
    No No No No None $ No No Thai 0-10 No
    Yes Yes Yes Yes Full $ No No Burger 30-60 Yes
    """,
)

CONTACT_LENSES = from_text(
    "contact_lenses",
    """
    age spectacle_prescription astigmatism tear_production lenses
    young myope no reduced none
    young myope no normal soft
    young myope yes reduced none
    young myope yes normal hard
    young hypermetrope no reduced none
    young hypermetrope no normal soft
    young hypermetrope yes reduced none
    young hypermetrope yes normal hard
    pre-presbyopic myope no reduced none
    pre-presbyopic myope no normal soft
    pre-presbyopic myope yes reduced none
    pre-presbyopic myope yes normal hard
    pre-presbyopic hypermetrope no reduced none
    pre-presbyopic hypermetrope no normal soft
    pre-presbyopic hypermetrope yes reduced none
    pre-presbyopic hypermetrope yes normal none
    presbyopic myope no reduced none
    presbyopic myope no normal none
    presbyopic myope yes reduced none
    presbyopic myope yes normal hard
    presbyopic hypermetrope no reduced none
    presbyopic hypermetrope no normal soft
    presbyopic hypermetrope yes reduced none
    presbyopic hypermetrope yes normal none
    """,
)


def with_gaps(rows: int = 200) -> Table:
    """A made table for surrogates: three numbers and a name that follow the class loosely, a third of their cells gone.

    The numbers come from a congruential generator, so that the table is the same everywhere.
    """
    state = 6
    columns: dict[str, list[str | None]] = {name: [] for name in ("a", "b", "c", "d", "group")}

    def drawn(below: int) -> int:
        nonlocal state
        state = (state * 1103515245 + 12345) % 2**31
        return state // 2**16 % below

    for _ in range(rows):
        group = drawn(3)
        for name, spread in (("a", 6000), ("b", 9000), ("c", 12000)):
            cell = 4000 * group + drawn(spread)
            columns[name].append(None if drawn(3) == 0 else str(cell))
        level = "pqrs"[group if drawn(3) else drawn(4)]
        columns["d"].append(None if drawn(3) == 0 else level)
        columns["group"].append("xyz"[group])
    return Table("gaps", columns, ("d", "group"), "group")


TABLES = {table.name: table for table in (TENNIS, TENNIS_NUMERIC, MOVIES, RESTAURANT, CONTACT_LENSES, with_gaps())}
