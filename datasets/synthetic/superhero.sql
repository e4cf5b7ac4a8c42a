CREATE TABLE alignment (
    id INTEGER NOT NULL PRIMARY KEY,
    alignment TEXT DEFAULT NULL
);
CREATE TABLE attribute (
    id INTEGER NOT NULL PRIMARY KEY,
    attribute_name TEXT DEFAULT NULL
);
CREATE TABLE colour (
    id INTEGER NOT NULL PRIMARY KEY,
    colour TEXT DEFAULT NULL
);
CREATE TABLE gender (
    id INTEGER NOT NULL PRIMARY KEY,
    gender TEXT DEFAULT NULL
);
CREATE TABLE publisher (
    id INTEGER NOT NULL PRIMARY KEY,
    publisher_name TEXT DEFAULT NULL
);
CREATE TABLE race (
    id INTEGER NOT NULL PRIMARY KEY,
    race TEXT DEFAULT NULL
);
CREATE TABLE superhero (
    id INTEGER NOT NULL PRIMARY KEY,
    superhero_name TEXT DEFAULT NULL,
    full_name TEXT DEFAULT NULL,
    gender_id INTEGER DEFAULT NULL,
    eye_colour_id INTEGER DEFAULT NULL,
    hair_colour_id INTEGER DEFAULT NULL,
    skin_colour_id INTEGER DEFAULT NULL,
    race_id INTEGER DEFAULT NULL,
    publisher_id INTEGER DEFAULT NULL,
    alignment_id INTEGER DEFAULT NULL,
    height_cm INTEGER DEFAULT NULL,
    weight_kg INTEGER DEFAULT NULL,
    FOREIGN KEY (alignment_id) REFERENCES alignment (id),
    FOREIGN KEY (eye_colour_id) REFERENCES colour (id),
    FOREIGN KEY (gender_id) REFERENCES gender (id),
    FOREIGN KEY (hair_colour_id) REFERENCES colour (id),
    FOREIGN KEY (publisher_id) REFERENCES publisher (id),
    FOREIGN KEY (race_id) REFERENCES race (id),
    FOREIGN KEY (skin_colour_id) REFERENCES colour (id)
);
CREATE TABLE hero_attribute (
    hero_id INTEGER DEFAULT NULL,
    attribute_id INTEGER DEFAULT NULL,
    attribute_value INTEGER DEFAULT NULL,
    FOREIGN KEY (attribute_id) REFERENCES attribute (id),
    FOREIGN KEY (hero_id) REFERENCES superhero (id)
);
CREATE TABLE superpower (
    id INTEGER NOT NULL PRIMARY KEY,
    power_name TEXT DEFAULT NULL
);
CREATE TABLE hero_power (
    hero_id INTEGER DEFAULT NULL,
    power_id INTEGER DEFAULT NULL,
    FOREIGN KEY (hero_id) REFERENCES superhero (id),
    FOREIGN KEY (power_id) REFERENCES superpower (id)
);
