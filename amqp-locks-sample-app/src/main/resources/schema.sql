CREATE TABLE IF NOT EXISTS report (
  report_day DATE PRIMARY KEY,
  images INT NOT NULL,
  -- The highest fencing token that has written here.
  token BIGINT NOT NULL
);
