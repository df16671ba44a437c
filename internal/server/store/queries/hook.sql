-- name: AddHook :one
insert into pawl.hook (project_id, kind, url, secret, created) values ($1, $2, $3, $4, $5) returning *;

-- name: Hooks :many
select * from pawl.hook where project_id = $1 order by id limit 1000;

-- name: RemoveHook :execrows
delete from pawl.hook where project_id = $1 and id = $2;
