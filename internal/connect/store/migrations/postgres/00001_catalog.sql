-- +goose Up
-- Text sorts by its bytes, as it does in SQLite; archives are packed already, so that they are stored as they are.
CREATE TABLE source (
  name     TEXT COLLATE "C" NOT NULL PRIMARY KEY CHECK (name <> ''),
  layer    TEXT COLLATE "C" NOT NULL,
  snapshot BIGINT
);

CREATE TABLE snapshot (
  id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source  TEXT COLLATE "C" NOT NULL REFERENCES source (name),
  hash    TEXT COLLATE "C" NOT NULL CHECK (hash <> ''),
  as_of   TEXT COLLATE "C" NOT NULL,
  created TEXT COLLATE "C" NOT NULL CHECK (length(created) = 27),
  archive BYTEA NOT NULL
);
ALTER TABLE snapshot ALTER COLUMN archive SET STORAGE EXTERNAL;
CREATE INDEX snapshot_source ON snapshot (source);
ALTER TABLE source ADD FOREIGN KEY (snapshot) REFERENCES snapshot (id);

CREATE TABLE fetch_log (
  id       BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  source   TEXT COLLATE "C" NOT NULL REFERENCES source (name),
  started  TEXT COLLATE "C" NOT NULL CHECK (length(started) = 27),
  finished TEXT COLLATE "C" NOT NULL CHECK (length(finished) = 27),
  as_of    TEXT COLLATE "C" NOT NULL,
  outcome  TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('published', 'unchanged', 'failed')),
  snapshot BIGINT REFERENCES snapshot (id),
  offers   BIGINT NOT NULL,
  prices   BIGINT NOT NULL,
  report   TEXT COLLATE "C" NOT NULL,
  error    TEXT COLLATE "C" NOT NULL,
  CHECK ((outcome = 'failed') = (snapshot IS NULL))
);
CREATE INDEX fetch_log_source ON fetch_log (source, id);
CREATE INDEX fetch_log_snapshot ON fetch_log (snapshot);

CREATE TABLE price_change (
  snapshot      BIGINT NOT NULL REFERENCES snapshot (id),
  provider      TEXT COLLATE "C" NOT NULL,
  instance_type TEXT COLLATE "C" NOT NULL,
  lines         TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (snapshot, provider, instance_type)
);
CREATE INDEX price_change_machine ON price_change (provider, instance_type);
