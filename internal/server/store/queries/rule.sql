-- name: AddRule :one
insert into pawl.oidc_rule (project_id, rule, created) values ($1, $2, $3) returning *;

-- name: Rules :many
select * from pawl.oidc_rule where project_id = $1 order by id limit 1000;

-- name: RemoveRule :execrows
delete from pawl.oidc_rule where project_id = $1 and id = $2;
