-- name: LockAudit :exec
select pg_advisory_xact_lock(hashtextextended('pawl.audit', sqlc.arg(project)::bigint));

-- name: LastAudit :one
select n, hash from pawl.audit where project_id = $1 order by n desc limit 1;

-- name: AddAudit :exec
insert into pawl.audit (project_id, n, at, actor, action, detail, hash) values ($1, $2, $3, $4, $5, $6, $7);

-- name: AuditBefore :many
select n, at, actor, action, detail, hash from pawl.audit
where project_id = $1 and n < $2 order by n desc limit $3;

-- name: AuditAfter :many
select n, at, actor, action, detail, hash from pawl.audit
where project_id = $1 and n > $2 order by n limit $3;
