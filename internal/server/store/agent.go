package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Agent is an agent of the fleet: a host that measures. It holds a key, of which only the hash is stored.
type Agent struct {
	ID        int64      `json:"id"`
	Name      string     `json:"name"`
	Devices   []string   `json:"devices"`
	Tier      tier.Tier  `json:"tier"`            // of code that its host serves
	Builds    bool       `json:"builds,omitzero"` // its host has no devices and only builds
	Host      job.Host   `json:"host,omitzero"`   // as the agent described it
	Created   time.Time  `json:"created"`
	CreatedBy string     `json:"created_by"`
	CodeUntil time.Time  `json:"code_until"` // end of the one-time code
	Enrolled  *time.Time `json:"enrolled,omitempty"`
	LastSeen  *time.Time `json:"last_seen,omitempty"`
	Revoked   *time.Time `json:"revoked,omitempty"`

	wasOff bool // its devices were not seen since their host was off
}

const agentColumns = `a.id, a.name, array(select d.device from pawl.agent_device d where d.agent_id = a.id order by d.device),
	a.created, a.created_by, a.code_until, a.enrolled, a.last_seen, a.revoked, a.tier, a.builds, a.tools, a.arch,
	exists (select from pawl.agent_device d join pawl.device c on c.id = d.device where d.agent_id = a.id and c.seen is null)`

func scanAgent(row pgx.CollectableRow) (a Agent, err error) {
	err = row.Scan(&a.ID, &a.Name, &a.Devices, &a.Created, &a.CreatedBy, &a.CodeUntil, &a.Enrolled, &a.LastSeen, &a.Revoked, &a.Tier, &a.Builds, &a.Host.Tools, &a.Host.Arch, &a.wasOff)
	a.Created, a.CodeUntil = a.Created.UTC(), a.CodeUntil.UTC()
	return a, err
}

// NewAgent adds an agent that is not enrolled yet, for a host that serves a tier, or only builds for it. It returns the one-time code to enroll with, which cannot be
// retrieved again.
func (s *Store) NewAgent(ctx context.Context, name, by string, serves tier.Tier, builds bool, lasts time.Duration) (code string, a Agent, err error) {
	if name == "" || len(name) > 100 || lasts <= 0 {
		return "", Agent{}, &pg.InvalidError{What: "an agent needs a name of at most 100 bytes, and its code a time"}
	}
	var secret [20]byte
	rand.Read(secret[:])
	code = "pawl-enroll-" + strings.ToLower(base32.StdEncoding.EncodeToString(secret[:]))
	hash := sha256.Sum256([]byte(code))
	list, err := pg.Collect(ctx, s.db.Rows(), scanAgent, `
		insert into pawl.agent as a (name, code, code_until, created, created_by, tier, builds) values ($1, $2, $3, $4, $5, $6, $7) returning `+agentColumns,
		name, hash[:], s.db.Now().Add(lasts), s.db.Now(), by, serves, builds)
	if err != nil {
		return "", Agent{}, fmt.Errorf("cannot add agent %q: %w", name, pg.Input(err))
	}
	return code, list[0], nil
}

// EnrollAgent exchanges a one-time code for the right to use the key with this hash. It returns [ErrNotFound] if the code is unknown, used or
// expired, if a device belongs to another agent, or if there are devices and the code is for a host that only builds, or the reverse. The devices become those of the fleet under this model. The same request again returns the same agent, because an answer can be lost.
func (s *Store) EnrollAgent(ctx context.Context, code string, key []byte, model string, devices []string) (a Agent, err error) {
	hash, now := sha256.Sum256([]byte(code)), s.db.Now()
	devices = slices.Compact(slices.Sorted(slices.Values(devices)))
	err = pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		var kept []byte
		err := tx.QueryRow(ctx, `select id, name, key, code_until, builds from pawl.agent where code = $1 and revoked is null for update`, hash[:]).Scan(&a.ID, &a.Name, &kept, &a.CodeUntil, &a.Builds)
		if err == nil && a.Builds != (len(devices) == 0) {
			err = ErrNotFound
		}
		if err != nil {
			return pg.Found(err)
		}
		if kept == nil {
			if err := claimDevices(ctx, tx, a, key, model, devices, now); err != nil {
				return err
			}
		}
		a, err = oneAgent(ctx, tx, `a.id = $1`, a.ID)
		if err == nil && (kept != nil && !bytes.Equal(kept, key) || !slices.Equal(a.Devices, devices)) {
			return ErrNotFound
		}
		return err
	})
	return a, pg.Wrap(pg.Input(err), "cannot enroll an agent")
}

// revoked is why a device is closed whose agent was revoked. Enrolling it again opens it; a device that was closed for another reason stays closed.
const revoked = "its agent was revoked"

// claimDevices binds a key and devices to an agent, which stands for a host.
func claimDevices(ctx context.Context, tx pgx.Tx, a Agent, key []byte, model string, devices []string, now time.Time) error {
	if !now.Before(a.CodeUntil) {
		return ErrNotFound
	}
	if _, err := tx.Exec(ctx, `update pawl.agent set key = $2, enrolled = $3 where id = $1`, a.ID, key, now); err != nil {
		if pg.Violates(err, "23505") { // the key of another agent
			return ErrNotFound
		}
		return err
	}
	tag, err := tx.Exec(ctx, `insert into pawl.agent_device (device, agent_id) select unnest($2::text[]), $1 on conflict (device) do nothing`, a.ID, devices)
	if err == nil && tag.RowsAffected() != int64(len(devices)) {
		return ErrNotFound
	}
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into pawl.device as d (id, model, host, seen) select unnest($1::text[]), $2, $3, $4
		on conflict (id) do update set model = $2, host = $3, seen = $4, reason = case d.reason when $5 then '' else d.reason end,
		power = case d.reason when $5 then 'ready' else d.power end`, devices, model, a.Name, now, revoked)
	return err
}

func oneAgent(ctx context.Context, q pg.Querier, where string, args ...any) (Agent, error) {
	list, err := pg.Collect(ctx, q, scanAgent, `select `+agentColumns+` from pawl.agent a where `+where, args...)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Agent{}, err
	}
	return list[0], nil
}

// AgentByKey returns the agent whose key has this hash, or [ErrNotFound] if there is none or it was revoked. It records that the agent and
// its devices were seen, at most once a minute unless its host was off.
func (s *Store) AgentByKey(ctx context.Context, hash []byte) (Agent, error) {
	a, err := oneAgent(ctx, s.db.Rows(), `a.key = $1 and a.revoked is null`, hash)
	if err != nil {
		return Agent{}, fmt.Errorf("agent: %w", err)
	}
	if now := s.db.Now(); a.LastSeen == nil || a.wasOff || !now.Before(a.LastSeen.Add(time.Minute)) {
		if _, err := s.db.Rows().Exec(ctx, `with agent as (update pawl.agent set last_seen = $2 where id = $1)
			update pawl.device set seen = $2 where id = any($3)`, a.ID, now, a.Devices); err != nil {
			return Agent{}, fmt.Errorf("cannot record that agent %d was seen: %w", a.ID, err)
		}
	}
	return a, nil
}

// DescribeAgent records what an agent says of its host.
func (s *Store) DescribeAgent(ctx context.Context, id int64, h job.Host) (Agent, error) {
	if !h.Valid() {
		return Agent{}, &pg.InvalidError{What: "a host has a SHA-256 of its tools and an architecture of at most 16 letters"}
	}
	list, err := pg.Collect(ctx, s.db.Rows(), scanAgent, `update pawl.agent as a set tools = $2, arch = $3 where a.id = $1 and a.revoked is null returning `+agentColumns, id, h.Tools, h.Arch)
	if err == nil && len(list) == 0 {
		err = ErrNotFound
	}
	if err != nil {
		return Agent{}, fmt.Errorf("cannot describe agent %d: %w", id, err)
	}
	return list[0], nil
}

// Agents lists the agents, newest first.
func (s *Store) Agents(ctx context.Context) ([]Agent, error) {
	list, err := pg.Collect(ctx, s.db.Rows(), scanAgent, `select `+agentColumns+` from pawl.agent a order by a.id desc limit 1000`)
	return list, pg.Wrap(err, "cannot list agents")
}

// spent starts the reason for which the devices of a host of unknown code are closed. The name of its lease follows.
const spent = "its host has taken its one lease: "

// TakeOnly closes the devices of an agent whose host carries out one lease, because it takes this one. It may take the same one again. If it
// has taken another one, it returns [ErrNotFound].
func (s *Store) TakeOnly(ctx context.Context, id int64, lease string) error {
	tag, err := s.db.Rows().Exec(ctx, `update pawl.device set power = 'closed', reason = $2
		where id in (select device from pawl.agent_device where agent_id = $1) and (reason = $2 or not starts_with(reason, $3))`, id, spent+lease, spent)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	return pg.Wrap(pg.Input(err), "agent %d cannot take lease %s", id, lease)
}

// RevokeAgent ends the key and the code of an agent immediately. Its devices are closed until another agent enrolls them.
func (s *Store) RevokeAgent(ctx context.Context, id int64) error {
	err := pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, `update pawl.agent set revoked = coalesce(revoked, $2) where id = $1`, id, s.db.Now())
		if err == nil && tag.RowsAffected() == 0 {
			err = ErrNotFound
		}
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `with freed as (delete from pawl.agent_device where agent_id = $1 returning device)
			update pawl.device set power = 'closed', reason = $2 where id in (select device from freed) and (power <> 'closed' or starts_with(reason, $3))`, id, revoked, spent)
		return err
	})
	return pg.Wrap(err, "agent %d", id)
}

// AgentRefusal is a request of an agent that the gateway refused.
type AgentRefusal struct {
	At     time.Time `json:"at"`
	Agent  string    `json:"agent,omitzero"` // empty if the key is unknown
	Remote string    `json:"remote"`
	Method string    `json:"method"`
	Reason string    `json:"reason"`
	Missed int       `json:"missed,omitzero"` // refusals before it that were not recorded, because there were too many
}

// refusalDays is how long refusals are kept.
const refusalDays = 90

// AddAgentRefusal records a refusal, and forgets old ones.
func (s *Store) AddAgentRefusal(ctx context.Context, r AgentRefusal) error {
	now := s.db.Now()
	_, err := s.db.Rows().Exec(ctx, `insert into pawl.agent_refusal (at, agent, remote, method, reason, missed) values ($1, $2, $3, $4, $5, $6)`,
		now, sanitizeText(r.Agent), sanitizeText(r.Remote), sanitizeText(r.Method), sanitizeText(r.Reason), r.Missed)
	if err == nil {
		_, err = s.db.Rows().Exec(ctx, `delete from pawl.agent_refusal r where r.id in (select o.id from pawl.agent_refusal o where o.at < $1 limit 100)`, now.AddDate(0, 0, -refusalDays))
	}
	return pg.Wrap(err, "cannot record a refusal")
}

// AgentRefusals lists the newest refusals first.
func (s *Store) AgentRefusals(ctx context.Context) ([]AgentRefusal, error) {
	list, err := pg.Collect(ctx, s.db.Rows(), pgx.RowToStructByPos[AgentRefusal], `
		select at, agent, remote, method, reason, missed from pawl.agent_refusal order by id desc limit 1000`)
	return list, pg.Wrap(err, "cannot list refusals")
}
