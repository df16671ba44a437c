package store

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Entry is a line of a project's audit log.
type Entry struct {
	N      int64             `json:"n"` // starts at 1, no gaps
	At     time.Time         `json:"at"`
	Actor  string            `json:"actor"`
	Action string            `json:"action"`
	Detail map[string]string `json:"detail,omitempty"`
	Hash   []byte            `json:"hash"`
}

// Audit adds a line to a project's log. Each line contains the hash of the line before it, so
// changing, removing or inserting a line is detected. Cutting off the last lines is not
// detected, unless a hash of them is kept elsewhere. Without a key, see [Store.SetAuditKey], a
// writer of the database could compute all hashes anew.
func (s *Store) Audit(ctx context.Context, project int64, actor, action string, detail map[string]string) error {
	return s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		return s.audit(ctx, tx, project, actor, action, detail)
	})
}

// ChangeAudited changes a project and adds a line to its audit log, atomically. do runs inside one
// transaction: it must use the store that it is given, which accepts only this project. The
// detail that do returns goes into the line, beside actor and action. A nil detail means that
// nothing was changed; then no line is written.
func (s *Store) ChangeAudited(ctx context.Context, project int64, actor, action string, do func(in *Store) (detail map[string]string, err error)) error {
	return s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		detail, err := do(s.within(tx, project))
		if err != nil || detail == nil {
			return err
		}
		return s.audit(ctx, tx, project, actor, action, detail)
	})
}

// audit adds a line as part of a transaction, so that a change and its audit line are committed
// together. Writers of one project wait for each other until they commit.
func (s *Store) audit(ctx context.Context, tx pgx.Tx, project int64, actor, action string, detail map[string]string) error {
	e := Entry{N: 1, At: s.db.Now().UTC().Truncate(time.Microsecond), Actor: sanitizeText(actor), Action: sanitizeText(action), Detail: map[string]string{}}
	for k, v := range detail {
		e.Detail[sanitizeText(k)] = sanitizeText(v)
	}
	text, err := json.Marshal(e.Detail)
	if err != nil {
		return err
	}
	q := db.New(tx)
	if err := q.LockAudit(ctx, project); err != nil {
		return fmt.Errorf("cannot lock the audit log: %w", err)
	}
	last, err := q.LastAudit(ctx, project)
	if err != nil && !pg.None(err) {
		return fmt.Errorf("cannot read the end of the audit log: %w", err)
	}
	e.N = last.N + 1
	e.Hash = e.hash(s.auditKey, project, last.Hash, text)
	err = q.AddAudit(ctx, db.AddAuditParams{ProjectID: project, N: e.N, At: e.At, Actor: e.Actor, Action: e.Action, Detail: text, Hash: e.Hash})
	if err != nil {
		return fmt.Errorf("cannot write to the audit log of project %d: %w", project, err)
	}
	failpoint.At("audit.before-commit")
	return nil
}

// hash covers the whole line and the hash of the line before it. Lengths separate the fields. With a key, only
// its holders can compute it.
func (e Entry) hash(key []byte, project int64, before, detail []byte) []byte {
	h, tag := sha256.New(), "pawl.audit/v1"
	if len(key) > 0 {
		h, tag = hmac.New(sha256.New, key), "pawl.audit/v2"
	}
	for _, field := range [][]byte{
		[]byte(tag), before,
		binary.BigEndian.AppendUint64(nil, uint64(project)), binary.BigEndian.AppendUint64(nil, uint64(e.N)),
		binary.BigEndian.AppendUint64(nil, uint64(e.At.UnixMicro())), []byte(e.Actor), []byte(e.Action), detail,
	} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(field)))
		h.Write(field)
	}
	return h.Sum(nil)
}

// AuditLog lists lines with numbers below before, newest first. 0 starts at the newest line.
func (s *Store) AuditLog(ctx context.Context, project, before int64, limit int) ([]Entry, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	rows, err := db.New(s.db.Of(project)).AuditBefore(ctx, db.AuditBeforeParams{ProjectID: project, N: before, Limit: int32(min(limit, 1000))})
	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log of project %d: %w", project, err)
	}
	list := make([]Entry, len(rows))
	for n, row := range rows {
		if list[n], err = entryOf(db.AuditAfterRow(row)); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// SetAuditKey sets the key with which lines of the audit log are signed. All processes that write to one
// database need the same. Call it before the store is used.
func (s *Store) SetAuditKey(key []byte) { s.auditKey = key }

// SealAudit adds a signed line to each audit log whose last line is not signed: one from before there was a
// key, or one that was forged. It returns the projects whose logs it sealed.
func (s *Store) SealAudit(ctx context.Context) ([]int64, error) {
	if len(s.auditKey) == 0 {
		return nil, nil
	}
	projects, err := s.db.Projects(ctx, 0)
	if err != nil {
		return nil, err
	}
	var sealed []int64
	for _, id := range projects {
		last, err := s.AuditLog(ctx, id, 0, 2)
		if err != nil {
			return sealed, err
		}
		if len(last) == 0 {
			continue
		}
		text, err := json.Marshal(last[0].Detail)
		if err != nil {
			return sealed, err
		}
		var before []byte
		if len(last) == 2 {
			before = last[1].Hash
		}
		if hmac.Equal(last[0].hash(s.auditKey, id, before, text), last[0].Hash) {
			continue
		}
		if err := s.Audit(ctx, id, "server", "audit.seal", map[string]string{"lines": strconv.FormatInt(last[0].N, 10)}); err != nil {
			return sealed, err
		}
		sealed = append(sealed, id)
	}
	return sealed, nil
}

// VerifyAudit reads the whole chain of a project and returns an error where it is broken. With a key, lines
// after the first signed one must be signed, and so must the last.
func (s *Store) VerifyAudit(ctx context.Context, project int64) (lines int64, err error) {
	var before []byte
	signed := false
	for {
		rows, err := db.New(s.db.Of(project)).AuditAfter(ctx, db.AuditAfterParams{ProjectID: project, N: lines, Limit: 1000})
		if err != nil {
			return lines, fmt.Errorf("cannot read the audit log of project %d: %w", project, err)
		}
		if len(rows) == 0 && lines > 0 && len(s.auditKey) > 0 && !signed {
			return lines, fmt.Errorf("the audit log of project %d is not signed with audit.key: it is older than the key, or was written anew", project)
		}
		if len(rows) == 0 {
			return lines, nil
		}
		for _, row := range rows {
			e, err := entryOf(row)
			if err != nil {
				return lines, err
			}
			text, err := json.Marshal(e.Detail)
			if err != nil {
				return lines, err
			}
			if e.N != lines+1 {
				return lines, fmt.Errorf("the audit log of project %d has no line %d: it was removed", project, lines+1)
			}
			switch {
			case len(s.auditKey) > 0 && hmac.Equal(e.hash(s.auditKey, project, before, text), e.Hash):
				signed = true
			case signed || !bytes.Equal(e.hash(nil, project, before, text), e.Hash):
				return lines, fmt.Errorf("line %d of the audit log of project %d, or one before it, was changed after it was written, or audit.key is not the one that it was signed with", e.N, project)
			}
			lines, before = e.N, e.Hash
		}
	}
}

func entryOf(row db.AuditAfterRow) (Entry, error) {
	e := Entry{N: row.N, At: row.At.UTC(), Actor: row.Actor, Action: row.Action, Hash: row.Hash}
	if err := json.Unmarshal(row.Detail, &e.Detail); err != nil {
		return Entry{}, fmt.Errorf("cannot parse line %d of the audit log: %w", row.N, err)
	}
	return e, nil
}

// sanitizeText replaces invalid UTF-8 and zero bytes, which the database rejects.
func sanitizeText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
