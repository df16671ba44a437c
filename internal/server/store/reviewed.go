package store

// reviewed lists the tables of schema pawl without row security, and the policies that depend on
// something other than the project, each with the reason. A test fails for any other: a new table
// belongs to a project, or its exception is explained here.
//
// River's tables are in their own schema. A job holds only numbers, and its worker names the project
// before it reads anything.
var reviewed = map[string]string{
	"project":     "the directory: who there is, before anybody has chosen one. Names and settings, no measurement, no secret",
	"account":     "people belong to the server, not to a project: an issuer's name for them",
	"login":       "of an account, found by the hash of a cookie before anything else is known",
	"token_use":   "tokens are the issuer's: which were used, by digest",
	"migration":   "which steps the schema took",
	"member.mine": "a person sees where they belong before they have chosen a project; the account is the one of their login",
}
