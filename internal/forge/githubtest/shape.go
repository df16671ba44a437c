package githubtest

import (
	"fmt"
	"hash/crc32"
	"strings"
	"time"
)

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func isBot(login string) bool { return strings.HasSuffix(login, "[bot]") }

// links adds the many URLs that GitHub puts into its responses.
func links(o object, base, names string) object {
	for name := range strings.FieldsSeq(names) {
		o[name+"_url"] = base + "/" + name
	}
	return o
}

// user returns an account. Its ID is derived from its login.
func (s *Server) user(login string) object {
	kind := "User"
	if isBot(login) {
		kind = "Bot"
	}
	base := s.URL + "/users/" + strings.TrimSuffix(login, "[bot]")
	return links(object{
		"login": login, "id": int64(crc32.ChecksumIEEE([]byte(strings.ToLower(login)))), "node_id": "U", "type": kind,
		"site_admin": false, "gravatar_id": "", "url": base,
	}, base, "avatar events followers following gists html organizations received_events repos starred subscriptions")
}

// repository returns the server's repository, or a fork of it.
func (s *Server) repository(id int64) object {
	owner, base := s.Repo.Owner, s.api()
	if id != s.RepoID {
		owner = fmt.Sprintf("fork-%d", id)
		base = s.URL + "/repos/" + owner + "/" + s.Repo.Name
	}
	now := stamp(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	visibility := "public"
	if !s.public {
		visibility = "private"
	}
	return links(object{
		"id": id, "node_id": "R", "name": s.Repo.Name, "full_name": owner + "/" + s.Repo.Name, "owner": s.user(owner),
		"private": !s.public, "visibility": visibility, "fork": id != s.RepoID, "description": nil, "url": base,
		"default_branch": "main", "homepage": nil, "language": nil, "license": nil, "mirror_url": nil,
		"archived": false, "disabled": false, "has_downloads": true, "has_issues": true, "has_projects": true,
		"has_wiki": true, "has_pages": false, "has_discussions": false,
		"forks": 0, "forks_count": 0, "network_count": 0, "open_issues": 0, "open_issues_count": 0, "size": 1,
		"stargazers_count": 0, "subscribers_count": 0, "watchers": 0, "watchers_count": 0,
		"created_at": now, "updated_at": now, "pushed_at": now,
	}, base, "archive assignees blobs branches clone collaborators comments commits compare contents contributors deployments "+
		"downloads events forks git git_commits git_refs git_tags hooks html issue_comment issue_events issues keys labels "+
		"languages merges milestones notifications pulls releases ssh stargazers statuses subscribers subscription svn tags teams trees")
}

// app returns the app behind a bot account.
func (s *Server) app() object {
	slug := strings.TrimSuffix(s.Login, "[bot]")
	now := stamp(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	return object{
		"id": 15368, "slug": slug, "node_id": "A", "owner": s.user("github"), "name": slug, "description": nil,
		"external_url": "https://github.example/features", "html_url": "https://github.example/apps/" + slug,
		"created_at": now, "updated_at": now, "permissions": object{"checks": "write"}, "events": []string{},
	}
}
