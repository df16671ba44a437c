-- The runs of a suite side by side with their commits: whoever draws a long history wants
-- the commits of a thousand of them, which lie a thousand pages apart in the table.
create index on pawl.report (project_id, suite, id) include (sha);
