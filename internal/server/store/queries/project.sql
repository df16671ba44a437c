-- name: CreateProject :one
insert into pawl.project (slug, name, public, repository, default_branch, settings, created)
values ($1, $2, $3, $4, $5, $6, $7)
returning *;

-- name: ProjectBySlug :one
select * from pawl.project where slug = $1 and deleting is null;

-- name: ProjectByID :one
select * from pawl.project where id = $1 and deleting is null;

-- name: UpdateProject :execrows
update pawl.project set name = $2, public = $3, repository = $4, default_branch = $5, settings = $6
where id = $1 and deleting is null;

-- name: AllProjects :many
select * from pawl.project where deleting is null order by slug;

-- name: ProjectsOf :many
select p.* from pawl.project p
where p.deleting is null
  and (p.public or exists (select 1 from pawl.member m where m.project_id = p.id and m.account_id = $1))
order by p.slug;
