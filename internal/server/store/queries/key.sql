-- name: AddKey :one
insert into pawl.api_key (project_id, hash, prefix, name, scopes, created, created_by, expires)
values ($1, $2, $3, $4, $5, $6, $7, $8)
returning *;

-- name: KeysByPrefix :many
select * from pawl.api_key where project_id = $1 and prefix = $2 limit 16;

-- name: UseKey :exec
update pawl.api_key set last_used = sqlc.arg(now)::timestamptz
where project_id = $1 and id = $2 and (last_used is null or last_used <= sqlc.arg(now)::timestamptz - interval '1 minute');

-- name: Keys :many
select * from pawl.api_key where project_id = $1 order by id desc limit 1000;

-- name: RevokeKey :execrows
update pawl.api_key set revoked = coalesce(revoked, sqlc.arg(now)::timestamptz) where project_id = $1 and id = $2;
