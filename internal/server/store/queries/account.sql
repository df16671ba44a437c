-- name: SignIn :one
insert into pawl.account (issuer, subject, name, email, created) values ($1, $2, $3, $4, $5)
on conflict (issuer, subject) do update set name = excluded.name, email = excluded.email
returning *;

-- name: Invite :one
insert into pawl.account (issuer, subject, name, created) values ($1, $2, $2, $3)
on conflict (issuer, subject) do update set subject = excluded.subject
returning *;

-- name: AccountByID :one
select * from pawl.account where id = $1;

-- name: AddLogin :exec
insert into pawl.login (hash, account_id, created, expires, last_used) values ($1, $2, $3, $4, $3);

-- name: ForgetLogins :exec
delete from pawl.login l where l.hash in (select o.hash from pawl.login o where o.expires <= $1 limit 100);

-- name: EndLogin :exec
delete from pawl.login where hash = $1;

-- name: Members :many
select a.id, a.issuer, a.subject, a.name, a.created, m.role
from pawl.member m join pawl.account a on a.id = m.account_id
where m.project_id = $1
order by a.name, a.id;

-- name: SetMember :exec
insert into pawl.member (project_id, account_id, role) values ($1, $2, $3)
on conflict (project_id, account_id) do update set role = excluded.role;

-- name: RemoveMember :execrows
delete from pawl.member where project_id = $1 and account_id = $2;

-- name: RoleOf :one
select role from pawl.member where project_id = $1 and account_id = $2;

-- name: Accounts :many
select * from pawl.account
where sqlc.arg(person)::text = '' or name = sqlc.arg(person) or subject = sqlc.arg(person) or id::text = sqlc.arg(person)
order by name, id
limit 1000;
