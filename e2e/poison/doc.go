// Package poison sends hostile results to pawl ci comment, the job that holds a token and
// opens the files of an untrusted job: archives that break out, records that lie, words that
// are markup. None may write outside its folder, reach another pull request, a baseline or
// a green check, or take more memory than a small runner has. It has no code of its own
// beside its tests.
package poison
