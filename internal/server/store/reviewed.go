package store

// reviewed lists the tables of schema pawl without row security, and the policies that depend on
// something other than the project, each with the reason. A test fails for any other: a new table
// belongs to a project, or its exception is explained here.
//
// River's tables are in their own schema. A job holds only numbers, and its worker names the project
// before it reads anything.
var reviewed = map[string]string{
	"project":     "the list of projects, read before one is selected: names and settings, no measurements, no secrets",
	"account":     "people belong to the server, not to a project: the name comes from the issuer",
	"login":       "belongs to an account, and is found by the hash of a cookie before anything else is known",
	"token_use":   "tokens belong to the issuer: which were used, by digest",
	"migration":   "the applied migrations of the schema",
	"member.mine": "people see their projects before they select one; the account is that of their login",
}
