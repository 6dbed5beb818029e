// Serves the Star Wars schema of graph-gophers/graphql-go with its HTTP handler. The argument is the port.
package main

import (
	"net/http"
	"os"

	graphql "github.com/graph-gophers/graphql-go"
	"github.com/graph-gophers/graphql-go/example/starwars"
	"github.com/graph-gophers/graphql-go/relay"
)

func main() {
	schema := graphql.MustParseSchema(starwars.Schema, &starwars.Resolver{})
	http.Handle("/graphql", &relay.Handler{Schema: schema})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
