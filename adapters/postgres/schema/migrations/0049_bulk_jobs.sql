-- gatehouse: compatible from 0025
-- What the console does with more rows than one form takes: jobs, which an actor works on row by row.

CREATE TABLE bulk_jobs (
    id uuid PRIMARY KEY,
    organization_id uuid REFERENCES organizations (id) ON DELETE CASCADE,
    kind text NOT NULL,
    details jsonb NOT NULL,
    maker_id uuid NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    session_id uuid NOT NULL,
    request_id text,
    ip_address text,
    user_agent text,
    language text,
    state text DEFAULT 'running' NOT NULL,
    problem jsonb,
    rows integer NOT NULL,
    done integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    is_waiting boolean DEFAULT false NOT NULL,
    due_at timestamptz NOT NULL,
    leased_until timestamptz,
    created_at timestamptz NOT NULL,
    finished_at timestamptz
);
COMMENT ON TABLE bulk_jobs IS 'Jobs of the console: something done to many rows, in the session of the person who began it. Without an organization it is one of the platform. Kept for 30 days.';
COMMENT ON COLUMN bulk_jobs.session_id IS 'The session in which the job acts; the job ends with it.';
COMMENT ON COLUMN bulk_jobs.is_waiting IS 'Whether it waits until due_at for a limit.';
CREATE INDEX bulk_jobs_due ON bulk_jobs (due_at) WHERE state = 'running';
CREATE INDEX bulk_jobs_of_organization ON bulk_jobs (organization_id, created_at DESC, id DESC);
CREATE INDEX bulk_jobs_maker_id ON bulk_jobs (maker_id);
CREATE INDEX bulk_jobs_created_at ON bulk_jobs (created_at);

CREATE TABLE bulk_job_rows (
    job_id uuid NOT NULL REFERENCES bulk_jobs (id) ON DELETE CASCADE,
    number integer NOT NULL,
    label text NOT NULL,
    subject_id uuid,
    seen text NOT NULL,
    state text DEFAULT 'waiting' NOT NULL,
    problem jsonb,
    PRIMARY KEY (job_id, number)
);
COMMENT ON TABLE bulk_job_rows IS 'The rows of jobs: what is shown of each, what it is about, and what became of it.';
CREATE INDEX bulk_job_rows_label ON bulk_job_rows (lower(label));
CREATE INDEX bulk_job_rows_subject_id ON bulk_job_rows (subject_id) WHERE subject_id IS NOT NULL;
