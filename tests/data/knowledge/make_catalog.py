#!/usr/bin/env python3
"""Makes catalog.jsonl: some 200 made-up records of all ten types of the archives' mapping, with every
relationship in them. Nothing in it is a record of the archives. Writes the same file every time."""

import json
import random

dice = random.Random(17)
records = []
next_id = 900_000


def add(**fields):
    global next_id
    next_id += 1
    records.append({"naId": next_id, **fields})
    return records[-1]


def name(record):
    return record.get("title") or record["heading"]


def authority(kind, heading, note, **fields):
    record = add(recordType="authority", authorityType=kind, heading=heading, **fields)
    record[{"person": "biographicalNote", "organization": "administrativeHistoryNote"}.get(kind, "scopeNote")] = note
    record["linkCounts"] = {"totalDescription": dice.randrange(1, 40), "subject": dice.randrange(20)}
    record["recordSource"] = "made up"
    return record


def refer(record, **more):
    return {"naId": record["naId"], "heading": name(record), "authorityType": record.get("authorityType"), **more}


PLACES = ["Port Alder", "Grey Strait", "Lake Ennis", "Fort Marrow", "Tamsin Bay", "Upper Quill", "Harrow Point", "Ostrey Island", "Bell River", "Sunder County", "Nether Vale", "Cape Lorn"]
TOPICS = ["Lighthouses", "Tide tables", "Whaling", "Ice patrols", "Pilotage", "Fog signals", "Salvage", "Quarantine", "Ferries", "Dredging", "Weather stations", "Harbor fires", "Shipwrecks", "Buoys", "Crew lists"]
FORMS = ["logbooks", "charts", "photographs", "letters", "sound recordings", "plans", "ledgers", "telegrams"]
FIRST = ["Ada", "Bram", "Clara", "Dov", "Edda", "Finn", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Lars", "Mira", "Nils", "Olga", "Pavel", "Runa", "Sven", "Tove", "Ulf"]
LAST = ["Aldous", "Brandt", "Carver", "Dunmore", "Ekberg", "Farrow", "Gale", "Holm", "Ivers", "Jorgens"]

places = [authority("geographicPlaceName", place, f"{place} is a made-up place on a made-up coast.", coordinates=f"{50 + i}.1 N, {i}.5 W") for i, place in enumerate(PLACES)]
topics = [authority("topicalSubject", topic, f"Material about {topic.lower()} along the coast.", useFor=[f"{topic} (general)"]) for topic in TOPICS]
forms = [authority("specificRecordsType", form.capitalize(), f"Records that are {form}.") for form in FORMS]
for family in (places, topics, forms):
    for at, one in enumerate(family[1:], 1):
        wide = family[at // 4]
        if wide is not one:
            one["broaderTerms"] = [{"naId": wide["naId"], "name": wide["heading"], "heading": wide["heading"]}]
            wide.setdefault("narrowerTerms", []).append({"naId": one["naId"], "heading": one["heading"]})
    family[1]["relatedTerms"] = [{"naId": family[-1]["naId"], "heading": family[-1]["heading"]}]
people = []
for i in range(20):
    first, last = FIRST[i], LAST[i % len(LAST)]
    born = 1840 + 3 * i
    note = f"{first} {last} was born in {PLACES[i % 12]} in {born} and kept records of {TOPICS[i % 15].lower()} for {5 + i} years. " * (1 + 5 * (i % 7 == 0))
    people.append(authority("person", f"{last}, {first}, {born}-{born + 70}", note.strip(), name=f"{first} {last}",
                            birthDate={"logicalDate": f"{born}-03-0{1 + i % 9}"}, deathDate={"logicalDate": f"{born + 70}-11-20"},
                            variantPersonNames=[{"heading": f"{first[0]}. {last}", "name": f"{first[0]}. {last}"}]))
offices = []
for i in range(14):
    title = f"Office of {TOPICS[i]}"
    offices.append(authority("organization", title, f"The {title} was set up in {1860 + 4 * i} at {PLACES[i % 12]} and looked after {TOPICS[i].lower()} until {1900 + 4 * i}.",
                             jurisdictions=[{"naId": places[i % 12]["naId"], "name": PLACES[i % 12]}],
                             programAreas=[TOPICS[i]], personalReferences=[refer(people[i])]))
for at in range(1, 14, 3):
    earlier = offices[at - 1]
    offices[at]["organizationNames"] = [{"naId": earlier["naId"], "heading": earlier["heading"], "name": earlier["heading"]}]
for i, person in enumerate(people[:14]):
    person["organizationalReferences"] = [refer(offices[(i + 3) % 14])]


def described(level, title, above, **fields):
    chain = [{"naId": one["naId"], "title": one["title"], "levelOfDescription": one["levelOfDescription"], "distance": far} for far, one in enumerate(reversed(above), 1)]
    begun = 1861 + dice.randrange(60)
    return add(recordType="description", levelOfDescription=level, title=title, **({"ancestors": chain} if chain else {}),
               coverageStartDate={"logicalDate": f"{begun}-01-01"}, coverageEndDate={"logicalDate": f"{begun + dice.randrange(1, 30)}-12-31"},
               dataControlGroup={"groupName": "Made up"}, **fields)


def dressed(record, i):
    record["accessRestriction"] = {"status": dice.choice(["Unrestricted", "Restricted - Partly"])}
    record["useRestriction"] = {"status": "Undetermined", "specificUseRestrictions": ["Copyright", "Donor"][: 1 + i % 2]}
    record["subjects"] = [refer(topics[i % 15]), refer(places[i % 12]), refer(forms[i % 8])]
    record["contributors"] = [refer(people[i % 20], contributorType="Compiler")]
    record["generalRecordsTypes"] = ["Textual Records", "Maps and Charts"][: 1 + i % 2]
    record["languages"] = ["English"]
    return record


roots = []
for i in range(5):
    units = [{"name": f"Reading room {i + 1}", "city": PLACES[i], "state": "Made up", "email": f"room{i + 1}@archives.example"}]
    roots.append(described("recordGroup", f"Records of the {offices[i]['heading']}", [], recordGroupNumber=100 + i, seriesCount=4, referenceUnits=units))
for i in range(4):
    roots.append(described("collection", f"{people[i]['name']} Papers", [], collectionIdentifier=f"C-{i}", donors=[refer(people[i])], seriesCount=4))
for r, root in enumerate(roots):
    for s in range(3):
        i = 3 * r + s
        topic, place = TOPICS[i % 15], PLACES[(i * 5) % 12]
        series = dressed(described("series", f"{FORMS[i % 8].capitalize()} about {topic} at {place}", [root],
                                   scopeAndContentNote=f"This series holds {FORMS[i % 8]} about {topic.lower()} at {place}. " * (1 + 24 * (i % 9 == 0)),
                                   arrangement="Arranged by year, then by station.", functionAndUse=f"Kept to follow {topic.lower()} from season to season.",
                                   creators=[refer(offices[i % 14], creatorType="Most Recent")], fileUnitCount=2), i)
        for f in range(1 + (i % 2)):
            j = 2 * i + f
            unit = dressed(described("fileUnit", f"{topic} at {place}, file {f + 1}", [root, series],
                                     scopeAndContentNote=f"Papers on {topic.lower()} that {people[j % 20]['name']} filed at {place}.",
                                     physicalOccurrences=[{"copyStatus": "Preservation", "extent": f"{1 + j % 5} boxes"}]), j)
            for n in range(1 + (j % 2)):
                k = 2 * j + n
                dressed(described("item", f"{FORMS[k % 8][:-1].capitalize()} {k} from {place}", [root, series, unit],
                                  scopeAndContentNote=f"Number {k}: how {people[k % 20]['name']} saw {topic.lower()} at {place} in the winter of {1870 + k % 50}.",
                                  digitalObjects=[{"objectUrl": f"https://archives.example/{k}.jpg", "objectType": "Image (JPG)", "objectDescription": f"Page {k}"}],
                                  otherTitles=[f"Sheet {k}"], productionDates=[{"logicalDate": f"{1870 + k % 50}-02-0{1 + k % 9}"}]), k)

with open(__file__.replace("make_catalog.py", "catalog.jsonl"), "w", encoding="utf-8") as out:
    for record in records:
        out.write(json.dumps({"record": record}, ensure_ascii=False, sort_keys=True) + "\n")
print(len(records), "records")
