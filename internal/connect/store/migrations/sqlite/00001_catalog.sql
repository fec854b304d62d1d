-- +goose Up
-- Times are text of one width in UTC, so that they sort; ids are never used twice, so that a stale one finds nothing.
CREATE TABLE source (
  name     TEXT NOT NULL PRIMARY KEY CHECK (name <> ''),
  layer    TEXT NOT NULL,
  snapshot INTEGER REFERENCES snapshot (id)
) STRICT;

CREATE TABLE snapshot (
  id      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  source  TEXT NOT NULL REFERENCES source (name),
  hash    TEXT NOT NULL CHECK (hash <> ''),
  as_of   TEXT NOT NULL,
  created TEXT NOT NULL CHECK (length(created) = 27),
  archive BLOB NOT NULL
) STRICT;
CREATE INDEX snapshot_source ON snapshot (source);

CREATE TABLE fetch_log (
  id       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  source   TEXT NOT NULL REFERENCES source (name),
  started  TEXT NOT NULL CHECK (length(started) = 27),
  finished TEXT NOT NULL CHECK (length(finished) = 27),
  as_of    TEXT NOT NULL,
  outcome  TEXT NOT NULL CHECK (outcome IN ('published', 'unchanged', 'failed')),
  snapshot INTEGER REFERENCES snapshot (id),
  offers   INTEGER NOT NULL,
  prices   INTEGER NOT NULL,
  report   TEXT NOT NULL,
  error    TEXT NOT NULL,
  CHECK ((outcome = 'failed') = (snapshot IS NULL))
) STRICT;
CREATE INDEX fetch_log_source ON fetch_log (source, id);
CREATE INDEX fetch_log_snapshot ON fetch_log (snapshot);

CREATE TABLE price_change (
  snapshot      INTEGER NOT NULL REFERENCES snapshot (id),
  provider      TEXT NOT NULL,
  instance_type TEXT NOT NULL,
  lines         TEXT NOT NULL,
  PRIMARY KEY (snapshot, provider, instance_type)
) STRICT;
CREATE INDEX price_change_machine ON price_change (provider, instance_type);
