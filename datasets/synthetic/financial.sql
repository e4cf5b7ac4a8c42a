CREATE TABLE district (
    district_id INTEGER DEFAULT 0 NOT NULL PRIMARY KEY,
    A2 TEXT NOT NULL,
    A3 TEXT NOT NULL,
    A4 TEXT NOT NULL,
    A5 TEXT NOT NULL,
    A6 TEXT NOT NULL,
    A7 TEXT NOT NULL,
    A8 INTEGER NOT NULL,
    A9 INTEGER NOT NULL,
    A10 REAL NOT NULL,
    A11 INTEGER NOT NULL,
    A12 REAL NULL,
    A13 REAL NOT NULL,
    A14 INTEGER NOT NULL,
    A15 INTEGER NULL,
    A16 INTEGER NOT NULL
);
CREATE TABLE account (
    account_id INTEGER DEFAULT 0 NOT NULL PRIMARY KEY,
    district_id INTEGER DEFAULT 0 NOT NULL,
    frequency TEXT NOT NULL,
    date DATE NOT NULL,
    FOREIGN KEY (district_id) REFERENCES district (district_id)
);
CREATE TABLE client (
    client_id INTEGER NOT NULL PRIMARY KEY,
    gender TEXT NOT NULL,
    birth_date DATE NOT NULL,
    district_id INTEGER NOT NULL,
    FOREIGN KEY (district_id) REFERENCES district (district_id)
);
CREATE TABLE disp (
    disp_id INTEGER NOT NULL PRIMARY KEY,
    client_id INTEGER NOT NULL,
    account_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    FOREIGN KEY (account_id) REFERENCES account (account_id),
    FOREIGN KEY (client_id) REFERENCES client (client_id)
);
CREATE TABLE card (
    card_id INTEGER DEFAULT 0 NOT NULL PRIMARY KEY,
    disp_id INTEGER NOT NULL,
    type TEXT NOT NULL,
    issued DATE NOT NULL,
    FOREIGN KEY (disp_id) REFERENCES disp (disp_id)
);
CREATE TABLE loan (
    loan_id INTEGER DEFAULT 0 NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    date DATE NOT NULL,
    amount INTEGER NOT NULL,
    duration INTEGER NOT NULL,
    payments REAL NOT NULL,
    status TEXT NOT NULL,
    FOREIGN KEY (account_id) REFERENCES account (account_id)
);
CREATE TABLE "order" (
    order_id INTEGER DEFAULT 0 NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    bank_to TEXT NOT NULL,
    account_to INTEGER NOT NULL,
    amount REAL NOT NULL,
    k_symbol TEXT NOT NULL,
    FOREIGN KEY (account_id) REFERENCES account (account_id)
);
CREATE TABLE trans (
    trans_id INTEGER DEFAULT 0 NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL,
    date DATE NOT NULL,
    type TEXT NOT NULL,
    operation TEXT NULL,
    amount INTEGER NOT NULL,
    balance INTEGER NOT NULL,
    k_symbol TEXT NULL,
    bank TEXT NULL,
    account INTEGER NULL,
    FOREIGN KEY (account_id) REFERENCES account (account_id)
);
