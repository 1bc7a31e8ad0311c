"""The texts of the hostile world: long, with markup, from right to left, and without a place to break."""

from typing import Final

NAME: Final = "The Royal Society of <b>Shipwrights</b> & Daughters, established in 1612"
RIGHT_TO_LEFT: Final = "جمعية <b>بناة السفن</b> الملكية & بناتها"
UNBROKEN: Final = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
HOST: Final = "an.even.longer.name.of.a.host.invalid"
EMAIL: Final = f"somebody.with.a.long.name@{HOST}"
URL: Final = f"https://{HOST}/a/path/{UNBROKEN}?with=parameters&and=more"
