"""Invented people, places and firms. Any likeness to real ones is chance."""

from __future__ import annotations

GIVEN = (
    "Adela Anton Berit Bruno Calla Casper Dagny Dario Edda Emil Fenja Florin Greta Gustav Hedda Henrik Ilka Ivo "
    "Jorun Jasper Kaia Konrad Liv Lorenz Mirela Matei Nadja Nils Oda Oskar Petra Pavel Runa Radu Saskia Stellan "
    "Tilda Tomas Ulla Viggo Wanda Wilmar Ylva Zoran"
).split()
FAMILY = (
    "Abendroth Ashgrove Bellweather Brandvold Carrowmore Cinderby Drachmann Dunmore Eastlock Elversten Farrowby "
    "Fjeldgaard Glasswright Grunewald Hallorand Hjortsberg Ironmonger Jadwick Kestrelby Kronholt Lanternby Lindqvarn "
    "Marlowski O'Brannoch Norrgate Oakhollow Pellworth Quarrenton Ravensmoor Rookhaven Saltmarsh Skarsholt "
    "Thistlewood Tamberlane Underhay Vossberg Wetherall Wintergreen Yarrowfield Zellwinger"
).split()
TOWNS = (
    "Alderwick Bramford Crestholm Dunvale Eskmouth Fernbeck Galloway-on-Tarn Hartsmere Inverlune Kelderby Lowmarch "
    "Mirefield Northbeck Ostrava-Lesní Port-Médard Quillhaven Rosmarin Saint-Aubel Tidewater Ulmenau Vestergård "
    "Westerloch Yewbridge Zirndale"
).split()
COUNTRIES = (
    "Aldmark", "Brevania", "Corvia", "Dalmoria", "Estrany", "Fennoland", "Gallovia", "Hibria", "Istran", "Jutmark",
)  # fmt: skip
AREAS = ("Northern Isles", "Inner Sea", "Lowlands", "Eastern March", "Highlands", "Southern Cape")
STREETS = ("Mill Lane", "Harbour Row", "Quai du Nord", "Lindenstraße", "Old Market", "Canal Walk", "Rua Nova")
TRADES = (
    "Traders", "Provisions", "& Daughters", "Delikatessen", "Épicerie", "Markets", "Grocers' Union", "Imports",
    "Kitchen Supply", "Lebensmittel", "Mercantile", "Pantry Co.",
)  # fmt: skip
