CREATE TABLE companies (
    cik TEXT NOT NULL UNIQUE,
    ticker TEXT PRIMARY KEY,
    company_name TEXT NOT NULL
);
CREATE TABLE annual_financials (
    ticker TEXT NOT NULL,
    fiscal_year INTEGER NOT NULL,
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    value_billions REAL,
    unit TEXT NOT NULL,
    concept TEXT NOT NULL,
    form TEXT NOT NULL,
    filed TEXT NOT NULL,
    PRIMARY KEY (ticker, fiscal_year, metric),
    FOREIGN KEY (ticker) REFERENCES companies (ticker)
);
CREATE TABLE quarterly_financials (
    ticker TEXT NOT NULL,
    fiscal_year INTEGER NOT NULL,
    fiscal_period TEXT NOT NULL,
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    value_billions REAL,
    unit TEXT NOT NULL,
    concept TEXT NOT NULL,
    form TEXT NOT NULL,
    filed TEXT NOT NULL,
    PRIMARY KEY (ticker, fiscal_year, fiscal_period, metric),
    FOREIGN KEY (ticker) REFERENCES companies (ticker)
);
