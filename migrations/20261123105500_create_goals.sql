-- Why: readers set goals for a year.

CREATE TYPE goal_unit AS ENUM ('BOOKS', 'PAGES', 'HOURS');

CREATE TABLE reading_goals (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    id uuid NOT NULL,
    year int NOT NULL CHECK (year BETWEEN 1000 AND 9998),
    unit goal_unit NOT NULL,
    target int NOT NULL CHECK (target BETWEEN 1 AND 1000000),
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, id),
    CONSTRAINT reading_goals_of_year UNIQUE (user_id, year, unit)
);
ALTER TABLE reading_goals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
