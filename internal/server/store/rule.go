package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Rule is a project's stored identity rule.
type Rule struct {
	ID      int64         `json:"id"`
	Rule    identity.Rule `json:"rule"`
	Created time.Time     `json:"created"`
}

// AddRule allows the CI jobs that match a rule to upload to a project.
func (s *Store) AddRule(ctx context.Context, project int64, r identity.Rule) (Rule, error) {
	if err := r.Check(); err != nil {
		return Rule{}, &pg.InvalidError{What: err.Error()}
	}
	if err := s.room(ctx, project, countedRules, s.bounds.Rules); err != nil {
		return Rule{}, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return Rule{}, err
	}
	row, err := db.New(s.db.Of(project)).AddRule(ctx, db.AddRuleParams{ProjectID: project, Rule: text, Created: s.db.Now()})
	if err != nil {
		return Rule{}, fmt.Errorf("cannot add a rule to project %d: %w", project, pg.Input(err))
	}
	return ruleOf(row)
}

// Rules lists the rules of a project in the order they were added.
func (s *Store) Rules(ctx context.Context, project int64) ([]Rule, error) {
	rows, err := db.New(s.db.Of(project)).Rules(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("cannot list the rules of project %d: %w", project, err)
	}
	list := make([]Rule, len(rows))
	for n, row := range rows {
		if list[n], err = ruleOf(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// RemoveRule deletes a rule.
func (s *Store) RemoveRule(ctx context.Context, project, id int64) error {
	n, err := db.New(s.db.Of(project)).RemoveRule(ctx, db.RemoveRuleParams{ProjectID: project, ID: id})
	return changed(n, err, "rule", id)
}

func ruleOf(row db.PawlOidcRule) (Rule, error) {
	r := Rule{ID: row.ID, Created: row.Created.UTC()}
	if err := json.Unmarshal(row.Rule, &r.Rule); err != nil {
		return Rule{}, fmt.Errorf("rule %d: %w", row.ID, err)
	}
	return r, nil
}
