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
from collections.abc import Hashable, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from treewright.exceptions import DataError

DATES = ("date", "datetime", "duration", "time")
DAY = 86_400_000_000  # microseconds
_HOUR = DAY // 24
_EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001 - local to whatever zone the column has
_FIRST, _LAST = -_EPOCH.toordinal() + 1, dt.date.max.toordinal() + 1 - _EPOCH.toordinal()
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?\s?(?:Z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII | re.IGNORECASE
)
_TIME = re.compile(r"\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?", re.ASCII)
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


def days_of(value: dt.date | dt.time | dt.timedelta) -> tuple[str, float, str]:
    """The family, the days and the zone of one Python object; the zone is empty where it has none.

    Examples
    --------
    >>> days_of(dt.date(1970, 1, 3)), days_of(dt.timedelta(hours=6))
    (('date', 2.0, ''), ('duration', 0.25, ''))
    """
    if isinstance(value, dt.timedelta):
        return "duration", _days(value), ""
    if isinstance(value, dt.datetime):
        offset = value.utcoffset()
        since = value.replace(tzinfo=None) - _EPOCH
        if offset is None:
            return "datetime", _days(since), ""
        return "datetime", _days(since - offset), zone_of(value.tzinfo)
    if isinstance(value, dt.time):
        micros = ((value.hour * 60 + value.minute) * 60 + value.second) * 1_000_000 + value.microsecond
        return "time", micros / DAY, ""
    return "date", float(value.toordinal() - _EPOCH.toordinal()), ""


def _days(span: dt.timedelta) -> float:
    """Microseconds are counted as integers, so that equal instants are equal floats."""
    return ((span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds) / DAY


def zone_of(zone: object) -> str:
    """A time zone as text: its name, or its offset, such as ``+01:00``.

    Examples
    --------
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
    """Texts that are all dates or instants, all times of day, or all durations.

    Dates and instants are ISO 8601, such as ``2021-03-05`` or ``2021-03-05T14:30+01:00``; times of day ``14:30`` or
    ``14:30:05``; durations ISO 8601 (``P3DT4H30M``) or as pandas writes them (``3 days 04:30:00``).

    Returns
    -------
    (str, float64[k], str), or None
        The family, days and the zone; None where a text is of none of them, or of another one than the others, or
        where some have an offset and others not.

    Examples
    --------
    >>> read_texts(["1970-01-02", "1970-01-01 12:00"])
    ('datetime', array([1. , 0.5]), '')
    >>> read_texts(["PT6H", "1 day 12:00:00"])
    ('duration', array([0.25, 1.5 ]), '')
    >>> read_texts(["03/04/2021"]) is None
    True
    """
    days, families, zones = np.empty(len(texts)), set(), set()
    for at, text in enumerate(texts):
        value = _read(text.strip()) if isinstance(text, str) else None
        if value is None:
            return None
        family, days[at], zone = days_of(value)
        families.add(family)
        zones.add(zone)
    if len(families) != 1 or (len(zones) > 1 and "" in zones):
        return None
    return families.pop(), days, zones.pop() if len(zones) == 1 else "UTC"


def _read(text: str) -> dt.datetime | dt.time | dt.timedelta | None:
    """The instant, time of day or duration that a text is."""
    try:
        if _ISO.fullmatch(text):
            return dt.datetime.fromisoformat(re.sub(r"(?<=\d)\s(?=[Zz+-])", "", text))
        if _TIME.fullmatch(text):
            return dt.time.fromisoformat(text)
        found = _DURATION.fullmatch(text) or _ISO_DURATION.fullmatch(text)
        if found is None or not any(found.groups()[1:]):
            return None
        parts = {name: part for name, part in found.groupdict().items() if part}
        sign, plus = parts.pop("sign", ""), parts.pop("plus", "")
        numbers = {name: float(part) if "." in part else int(part) for name, part in parts.items()}
        if plus and sign:  # pandas counts days down and the clock up: -1 days +23:00:00 is an hour below nothing
            numbers["days"], sign = -numbers["days"], ""
        span = dt.timedelta(**numbers)
    except (ValueError, OverflowError):  # the 30th of February, half past twenty-four, more days than there are
        return None
    return -span if sign == "-" else span


def written_days(days: float, family: str, zone: str = "") -> str:
    """A number of days as the date, instant, duration or time of day that it is.

    Of a column of whole days the day is written in which the number lies: ``x <= 2021-03-04`` for a cut at noon.

    Examples
    --------
    >>> written_days(18690.5, "date"), written_days(18690.5, "datetime"), written_days(3.25, "duration")
    ('2021-03-04', '2021-03-04 12:00', '3 days 06:00:00')
    >>> written_days(18690.5, "datetime", "Europe/Oslo")
    '2021-03-04 13:00+01:00'
    """
    if family == "date":
        days = math.floor(days)
    micros = round(days * DAY)
    if family in ("duration", "time"):
        whole, rest = divmod(abs(micros), DAY) if family == "duration" else (0, micros)
        clock = _clock(rest, seconds=family == "duration")
        sign = "-" if micros < 0 and family == "duration" else ""
        return f"{sign}{whole} day{'s' * (whole != 1)} {clock}" if family == "duration" else clock
    if not _FIRST <= days < _LAST:
        return "the beginning" if days < _FIRST else "the end"
    moment = _EPOCH + dt.timedelta(microseconds=micros)
    if family == "date":
        return moment.date().isoformat()
    text = _local(moment, zone)
    return f"{text.date().isoformat()} {_clock_of(text)}{_offset_text(text)}"


def _local(moment: dt.datetime, zone: str) -> dt.datetime:
    """An instant of UTC in the column's zone; in UTC where the machine does not know that zone."""
    if not zone:
        return moment
    instant = moment.replace(tzinfo=dt.UTC)
    try:
        return instant.astimezone(_zone_called(zone))
    except (LookupError, OverflowError):
        return instant


def _zone_called(name: str) -> dt.tzinfo:
    """The time zone of a name or an offset; a LookupError where the machine does not know it."""
    try:
        return dt.datetime.strptime(name, "%z").tzinfo or dt.UTC if name[0] in "+-" else ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # KeyError: ZoneInfoNotFoundError
        raise LookupError(name) from None


def local_micros(days: np.ndarray, zone: str) -> np.ndarray:
    """Microseconds since 1970-01-01 by the clocks of a zone, int64[k], of days float64[k] without nan.

    Raises
    ------
    LookupError
        The machine does not know the zone.

    Examples
    --------
    >>> local_micros(np.array([0.5]), "Europe/Oslo") // 3_600_000_000
    array([13])
    """
    micros = np.rint(days * DAY).astype(np.int64)
    if not zone:
        return micros
    there = _zone_called(zone)

    def ahead(starts: np.ndarray) -> np.ndarray:
        """How far the clocks are ahead of UTC, int64, at instants that may lie outside of the years there are."""
        found = []
        for start in np.clip(starts, (_FIRST + 1) * DAY, (_LAST - 2) * DAY).tolist():
            moment = (_EPOCH + dt.timedelta(microseconds=start)).replace(tzinfo=dt.UTC)
            found.append(round((moment.astimezone(there).utcoffset() or dt.timedelta()) / dt.timedelta(microseconds=1)))
        return np.array(found, np.int64)

    # Clocks change rarely: where both ends of an hour agree, so do all instants between. Asking for every one of a
    # million instants would take seconds.
    hours, hour_of = np.unique(micros // _HOUR, return_inverse=True)
    first, last = ahead(hours * _HOUR), ahead(hours * _HOUR + _HOUR)
    offsets = first[hour_of]
    changing = (first != last)[hour_of]
    if changing.any():
        offsets[changing] = ahead(micros[changing])
    shifted: np.ndarray = micros + offsets
    return shifted


def _clock_of(moment: dt.datetime) -> str:
    micros = ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond
    return _clock(micros)


def _clock(micros: int, *, seconds: bool = False) -> str:
    """``14:30``, ``14:30:05`` or ``14:30:05.25``: as much as there is."""
    whole, part = divmod(micros, 1_000_000)
    text = f"{whole // 3600:02}:{whole // 60 % 60:02}"
    if seconds or whole % 60 or part:
        text += f":{whole % 60:02}"
    return text + f".{part:06}".rstrip("0") if part else text


def _offset_text(moment: dt.datetime) -> str:
    return moment.isoformat()[-6:] if moment.tzinfo is not None else ""


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
