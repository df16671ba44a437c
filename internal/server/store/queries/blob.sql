-- name: AddBlob :execrows
insert into pawl.blob (project_id, digest, size, created, fork) values ($1, $2, $3, $4, $5) on conflict do nothing;

-- name: BlobSize :one
select size from pawl.blob where project_id = $1 and digest = $2;
