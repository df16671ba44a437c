-- name: UseToken :one
-- Only one that is over may be written over.
insert into pawl.token_use as t (issuer, id, digest, receipt, until) values ($1, $2, $3, $4, $5)
on conflict (issuer, id) do update set digest = excluded.digest, receipt = excluded.receipt, until = excluded.until
where t.until <= sqlc.arg(now)::timestamptz
returning receipt;

-- name: TokenUse :one
select digest, receipt from pawl.token_use where issuer = $1 and id = $2;

-- name: ForgetTokens :exec
delete from pawl.token_use t using (
  select o.issuer, o.id from pawl.token_use o where o.until <= $1 limit 20 for update skip locked
) old where t.issuer = old.issuer and t.id = old.id;
