"""Dates, instants, durations and times of day as numbers, and back as text.

A column of them is a numeric one whose ``family`` says which it is: its cells are float64 days, since 1970-01-01 (of
UTC where the column has a time zone), of length, or since midnight. Days and not microseconds, so that distances read
as what they are; a whole day is exact, and every microsecond between 1821 and 2119 reads back as itself. What is finer
than a microsecond is cut off. Missing is nan.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from treewright.exceptions import DataError

DATES = ("date", "datetime", "duration", "time")
DAY = 86_400_000_000  # microseconds
_HOUR = DAY // 24
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local to whatever zone the column has
_FIRST, _LAST = -_EPOCH.toordinal() + 1, dt.date.max.toordinal() + 1 - _EPOCH.toordinal()
# The hour 24 is an error in some versions of Python and the next day in others.
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ](?!24)\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_TIME = re.compile(r"(?!24)\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?", re.ASCII)
_DURATION = re.compile(
    r"(?P<sign>-?)(?P<days>\d+) days?"
    r"(?: (?P<plus>\+?)(?P<hours>\d\d):(?P<minutes>\d\d):(?P<seconds>\d\d(?:\.\d{1,9})?))?",
    re.ASCII,
)
# Years and months have no fixed length.
_ISO_DURATION = re.compile(
    r"(?P<sign>-?)P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=\d)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:\.\d{1,9})?)S)?)?",
    re.ASCII,
)
_OFFSET = re.compile(r"UTC([+-]\d\d:\d\d(?::\d\d(?:\.\d{6})?)?)")
# What is meant as a date or instant, whether there is such a one or not.
_LIKE_ISO = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d)-(?P<day>\d\d)"
    r"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.(?P<decimals>\d+))?)?"
    r"\s?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_SORTS = {"datetime": "date", "time": "time of day", "duration": "duration"}
_MOST_DECIMALS = 9
MOSTLY = 0.9  # of the cells: a column of which so many are dates is meant to be one of dates


def days_of(value: dt.date | dt.time | dt.timedelta) -> tuple[str, float, str]:
    """The family, the days and the zone of one Python object; the zone is empty if it has none.

    OverflowError if in UTC an instant with a time zone is not within the years 1 to 9999.
    """
    if isinstance(value, dt.timedelta):
        return "duration", _days(value), ""
    if isinstance(value, dt.datetime):
        offset = value.utcoffset()
        since = value.replace(tzinfo=None) - _EPOCH
        if offset is None:
            return "datetime", _days(since), ""
        if not dt.timedelta(_FIRST) <= since - offset < dt.timedelta(_LAST):
            raise OverflowError(f"{value} is not within the years 1 to 9999 of UTC")
        return "datetime", _days(since - offset), zone_of(value.tzinfo)
    if isinstance(value, dt.time):
        return "time", _since_midnight(value) / DAY, ""
    return "date", float(value.toordinal() - _EPOCH.toordinal()), ""


def _days(span: dt.timedelta) -> float:
    """A duration in days, from whole microseconds, so that equal instants are equal floats."""
    return ((span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds) / DAY


def zone_of(zone: object) -> str:
    """A time zone as text: its name, or its offset, such as ``+01:00``.

    >>> zone_of("UTC+03:00"), zone_of(dt.timezone(dt.timedelta(hours=3), "Moscow")), zone_of(ZoneInfo("Europe/Oslo"))
    ('+03:00', '+03:00', 'Europe/Oslo')
    """
    if isinstance(zone, dt.tzinfo) and not hasattr(zone, "key") and (offset := zone.utcoffset(None)) is not None:
        zone = dt.timezone(offset)  # whatever it is called, and whichever library it is from
    name = str(getattr(zone, "key", zone))
    found = _OFFSET.fullmatch(name)
    return found.group(1) if found else name


def days_of_array(array: np.ndarray, label: str) -> tuple[str, np.ndarray]:
    """The family and the days, float64[n], of datetime64 or timedelta64 of any unit."""
    family = "datetime" if array.dtype.kind == "M" else "duration"
    missing = np.isnat(array)
    if np.datetime_data(array.dtype)[0] in ("Y", "M", "generic") and family == "duration":
        raise DataError(f"{label} has dtype {array.dtype}, whose length is not fixed: convert it to days")
    if family == "datetime":
        years = array.astype("M8[Y]").view(np.int64)[~missing] + 1970
        if years.size and (years.min() < 1 or years.max() > 9999):
            row = int(np.flatnonzero(~missing)[np.argmax((years < 1) | (years > 9999))])
            raise DataError(f"{label} row {row}: {array[row]} is not within the years 1 to 9999: make it missing")
    days = array.astype("M8[us]" if family == "datetime" else "m8[us]").view(np.int64) / DAY
    days[missing] = np.nan
    return family, days


def read_texts(texts: Sequence[Hashable]) -> tuple[str, np.ndarray, str] | None:
    """The family, days float64[k] and zone of texts that are all dates or instants, all times of day, or all durations.

    Dates and instants are ISO 8601, such as ``2021-03-05`` or ``2021-03-05T14:30+01:00``; times of day ``14:30`` or
    ``14:30:05``; durations ISO 8601 (``P3DT4H30M``) or as pandas writes them (``3 days 04:30:00``). None if a text is
    none of these, if two are of different families, or if some have an offset and others not.

    >>> read_texts(["1970-01-02", "1970-01-01 12:00"])
    ('datetime', array([1. , 0.5]), '')
    >>> read_texts(["PT6H", "1 day 12:00:00"])
    ('duration', array([0.25, 1.5 ]), '')
    >>> read_texts(["03/04/2021"]) is None
    True
    """
    days, families, zones = np.empty(len(texts)), set(), set()
    for at, text in enumerate(texts):
        read = _read(text)
        if read is None:
            return None
        family, days[at], zone = read
        families.add(family)
        zones.add(zone)
    if len(families) != 1 or (len(zones) > 1 and "" in zones):
        return None
    return families.pop(), days, zones.pop() if len(zones) == 1 else "UTC"


def _read(text: Hashable) -> tuple[str, float, str] | None:
    """The family, days and zone of a text; None if it is no instant, time of day or duration."""
    if not isinstance(text, str):
        return None
    text = text.strip()
    try:
        if _ISO.fullmatch(text):
            return days_of(dt.datetime.fromisoformat(re.sub(r"(?<=\d)\s(?=[Zz+-])", "", text)))
        if _TIME.fullmatch(text):
            return days_of(dt.time.fromisoformat(text))
        found = _DURATION.fullmatch(text) or _ISO_DURATION.fullmatch(text)
        if found is None or not any(found.groups()[1:]):
            return None
        parts = {name: part for name, part in found.groupdict().items() if part}
        sign, plus = parts.pop("sign", ""), parts.pop("plus", "")
        numbers = {name: float(part) if "." in part else int(part) for name, part in parts.items()}
        if plus and sign:  # pandas counts days down and the clock up: -1 days +23:00:00 is minus one hour
            numbers["days"], sign = -numbers["days"], ""
        span = dt.timedelta(**numbers)
    except (ValueError, OverflowError):  # the 30th of February, half past twenty-four, more days than there are
        return None
    return days_of(-span if sign == "-" else span)


class OddTexts(NamedTuple):
    """The texts because of which a column is not read as dates, times or durations, though nearly all cells are."""

    texts: frozenset[str]  # if the only fault is that some have a time zone and others have none, the rarer of the two
    sort: str  # what the others are: "date", "time of day" or "duration"
    # n_others, n: cells of that sort, and all cells that are not missing
    n_others: int
    n: int

    def fault_of(self, text: str) -> str:
        """What is wrong with one of the texts, in words that follow it: "is not a date (there is no such day)"."""
        if (read := _read(text)) is not None and read[0] == "datetime" and self.sort == "date":
            has, have = ("a", "none") if read[2] else ("no", "one")
            return (
                f"has {has} time zone, though {self.n_others} of {self.n} cells have {have} (give all of them one, or "
                "none)"
            )
        meant = _LIKE_ISO.fullmatch(text.strip())
        why = f" ({_why_unread(meant)})" if meant and read is None else ""
        others = f", though {self.n_others} of {self.n} cells are" if self.n_others else ""
        return f"is not a {self.sort}{why}{others}"


def odd_texts(counts: Mapping[str, int]) -> OddTexts | None:
    """The texts that are not dates in a column in which nearly all are; None if fewer are, or all.

    ``counts`` has the cells that hold each text. A day that does not exist, such as 2021-02-30, counts as meant for a
    date: a column of such days is not nominal.

    >>> odd_texts({"2021-03-04T10:00": 1, "2021-03-04T12:00Z": 3}).texts
    frozenset({'2021-03-04T10:00'})
    >>> odd_texts({"2021-02-30": 1, "2021-03-01": 9}).fault_of("2021-02-30")
    'is not a date (there is no such day), though 9 of 10 cells are'
    >>> odd_texts({"2021-03-04": 1, "never": 1}) is None
    True
    """
    n = sum(counts.values())
    cells = dict.fromkeys(("datetime", "time", "duration", "", "zoned"), 0)
    sorts: dict[str, tuple[str, bool, str]] = {}
    for text, times in counts.items():
        read = _read(text)
        meant = read[0] if read else "datetime" if _LIKE_ISO.fullmatch(text.strip()) else ""
        cells[meant] += times
        if n - cells[""] < MOSTLY * n:  # names: most columns of text end here
            return None
        sorts[text] = meant, read is not None, read[2] if read else ""
        cells["zoned"] += times * bool(read and read[2])
    most = max(_SORTS, key=lambda family: cells[family])
    if not n or cells[most] < MOSTLY * n:
        return None
    odd = [text for text, (meant, is_read, _) in sorts.items() if meant != most or not is_read]
    if not odd and 0 < cells["zoned"] < n:
        rarer = cells["zoned"] < n - cells["zoned"]
        odd = [text for text, (_, _, zone) in sorts.items() if bool(zone) == rarer]
    return OddTexts(frozenset(odd), _SORTS[most], n - sum(counts[text] for text in odd), n) if odd else None


def _why_unread(found: re.Match[str]) -> str:
    """What is wrong with a text that is meant as a date or instant."""
    if found["year"] == "0000":
        return "years are 1 to 9999"
    try:
        dt.date.fromisoformat(found[0][:10])
    except ValueError:
        return "there is no such day"
    if (found["hour"] or "") > "23":
        return "hours are 00 to 23; 24:00 is 00:00 of the next day"
    if (found["minute"] or "") > "59":
        return "minutes are 00 to 59"
    if (found["second"] or "") > "59":
        return "seconds are 00 to 59, without leap seconds"
    if len(found["decimals"] or "") > _MOST_DECIMALS:
        return f"at most {_MOST_DECIMALS} decimals of a second are read"
    return "in UTC it is not within the years 1 to 9999, or its offset is not within a day"


def written_days(days: float, family: str, zone: str = "") -> str:
    """A number of days as text: a date, instant, duration or time of day.

    For a column of whole days it is the day in which the number lies: ``x <= 2021-03-04`` for a cut at noon.
    """
    if family == "date":
        days = math.floor(days)
    micros = round(days * DAY)
    if family in ("duration", "time"):
        n_days, rest = divmod(abs(micros), DAY) if family == "duration" else (0, micros)
        clock = _clock(rest, seconds=family == "duration")
        sign = "-" if micros < 0 and family == "duration" else ""
        return f"{sign}{n_days} day{'s' * (n_days != 1)} {clock}" if family == "duration" else clock
    if not _FIRST <= days < _LAST:
        return "the beginning" if days < _FIRST else "the end"
    moment = _EPOCH + dt.timedelta(microseconds=micros)
    if family == "date":
        return moment.date().isoformat()
    moment = _local(moment, zone)
    offset = moment.isoformat()[-6:] if moment.tzinfo is not None else ""
    return f"{moment.date().isoformat()} {_clock(_since_midnight(moment))}{offset}"


def _local(moment: dt.datetime, zone: str) -> dt.datetime:
    """An instant of UTC in the column's zone; in UTC if the machine does not know that zone."""
    if not zone:
        return moment
    instant = moment.replace(tzinfo=dt.UTC)
    try:
        return instant.astimezone(_zone_called(zone))
    except (LookupError, OverflowError):
        return instant


def _zone_called(name: str) -> dt.tzinfo:
    """The time zone for a name or an offset; LookupError if the machine does not know it."""
    try:
        return dt.datetime.strptime(name, "%z").tzinfo or dt.UTC if name[0] in "+-" else ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # KeyError: ZoneInfoNotFoundError
        raise LookupError(name) from None


def local_micros(days: np.ndarray, zone: str) -> np.ndarray:
    """Microseconds since 1970-01-01 by the clocks of a zone, int64[k], of days float64[k] without nan.

    LookupError if the machine does not know the zone.

    >>> local_micros(np.array([0.5]), "Europe/Oslo") // 3_600_000_000
    array([13])
    """
    micros = np.rint(days * DAY).astype(np.int64)
    if not zone:
        return micros
    there = _zone_called(zone)

    def ahead(starts: np.ndarray) -> np.ndarray:
        """How far the clocks are ahead of UTC, int64, at instants that may lie outside the years 1 to 9999."""
        found = []
        for start in np.clip(starts, (_FIRST + 1) * DAY, (_LAST - 2) * DAY).tolist():
            moment = (_EPOCH + dt.timedelta(microseconds=start)).replace(tzinfo=dt.UTC)
            found.append(round((moment.astimezone(there).utcoffset() or dt.timedelta()) / dt.timedelta(microseconds=1)))
        return np.array(found, np.int64)

    # Clocks change rarely: if both ends of an hour agree, so do all instants between. Looking up every one of a
    # million instants would take seconds.
    hours, hour_of = np.unique(micros // _HOUR, return_inverse=True)
    first, last = ahead(hours * _HOUR), ahead(hours * _HOUR + _HOUR)
    offsets = first[hour_of]
    changing = (first != last)[hour_of]
    if changing.any():
        offsets[changing] = ahead(micros[changing])
    shifted: np.ndarray = micros + offsets
    return shifted


def _since_midnight(moment: dt.datetime | dt.time) -> int:
    """Microseconds since midnight."""
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond


def _clock(micros: int, *, seconds: bool = False) -> str:
    """``14:30``, ``14:30:05`` or ``14:30:05.25``: as much as there is."""
    n_seconds, part = divmod(micros, 1_000_000)
    text = f"{n_seconds // 3600:02}:{n_seconds // 60 % 60:02}"
    if seconds or n_seconds % 60 or part:
        text += f":{n_seconds % 60:02}"
    return text + f".{part:06}".rstrip("0") if part else text


def as_texts(days: np.ndarray, family: str, zone: str) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Codes int[n] (-1 = missing) and ISO texts, for a column that is declared nominal or ordinal."""
    missing = np.isnan(days)
    present, inverse = np.unique(days[~missing], return_inverse=True)
    codes = np.full(len(days), -1, np.int64)
    codes[~missing] = inverse
    # By value, not by column: a midnight is its date in whatever table it stands.
    is_plain = family == "datetime" and not zone
    return codes, tuple(
        written_days(day, "date" if is_plain and day.is_integer() else family, zone) for day in present.tolist()
    )
