package githubtest

import (
	"net/http"
	"strings"
)

// SetMergeBase sets the merge base of two commits. The default is base, if head descends
// from it.
func (s *Server) SetMergeBase(base, head, common string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.common == nil {
		s.common = map[string]string{}
	}
	s.common[base+"..."+head] = common
}

func (s *Server) serveCompare(q *parsedRequest) *response {
	if !q.is(http.MethodGet, "compare/*") {
		return nil
	}
	base, head, ok := strings.Cut(q.parts[1], "...")
	if !ok {
		return nil
	}
	common := s.common[q.parts[1]]
	if common == "" && s.git.descends(s.git.resolve(head), s.git.resolve(base)) {
		common = s.git.resolve(base)
	}
	if common == "" {
		return nil
	}
	at := s.api() + "/compare/" + q.parts[1]
	return reply(http.StatusOK, object{
		"url": at, "html_url": s.html() + "/compare/" + q.parts[1], "permalink_url": s.html() + "/compare/x", "diff_url": s.html() + "/x.diff", "patch_url": s.html() + "/x.patch",
		"base_commit": s.historyShape(base), "merge_base_commit": s.historyShape(common),
		"status": "diverged", "ahead_by": 1, "behind_by": 1, "total_commits": 1, "commits": []object{},
	})
}

// historyShape returns a commit as shown in lists of commits.
func (s *Server) historyShape(sha string) object {
	at := s.api() + "/commits/" + sha
	who := object{"name": "ann", "email": "ann@example.com", "date": stamp(s.Now())}
	return object{
		"url": at, "sha": sha, "node_id": "C", "html_url": s.html() + "/commit/" + sha, "comments_url": at + "/comments",
		"commit": object{
			"url": s.api() + "/git/commits/" + sha, "author": who, "committer": who, "message": "A change", "comment_count": 0,
			"tree": object{"sha": sha, "url": s.api() + "/git/trees/" + sha},
		},
		"author": s.user("ann"), "committer": s.user("ann"), "parents": []object{},
	}
}
