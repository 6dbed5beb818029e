// Serves the schema of Examples/Library with graph-gophers/graphql-go and its HTTP handler. The argument is the port.
package main

import (
	"fmt"
	"net/http"
	"os"

	graphql "github.com/graph-gophers/graphql-go"
	"github.com/graph-gophers/graphql-go/relay"
)

const sdl = `
schema { query: Query }
type Query { me: User! }
type User { id: ID! displayName: String! shelves: [Shelf!]! }
type Shelf { id: ID! name: String! books(first: Int! = 20): [Book!]! }
type Book {
  id: ID! title: String! author: String! status: Status! addedAt: String! coverUrl: String! review: Review
}
type Review { rating: Int! text: String }
enum Status { WANT_TO_READ READING READ }`

type resolver struct{}

type user struct {
	ID          graphql.ID
	DisplayName string
	Shelves     []*shelf
}

type shelf struct {
	ID     graphql.ID
	Name   string
	number int
}

type book struct {
	ID                                       graphql.ID
	Title, Author, Status, AddedAt, CoverUrl string
	Review                                   *review
}

type review struct {
	Rating int32
	Text   *string
}

func (resolver) Me() *user {
	result := &user{ID: "1", DisplayName: "Reader"}
	for number := 0; number < 5; number++ {
		id := graphql.ID(fmt.Sprint(number))
		result.Shelves = append(result.Shelves, &shelf{ID: id, Name: fmt.Sprint("Shelf ", number), number: number})
	}
	return result
}

func (s *shelf) Books(arguments struct{ First int32 }) []*book {
	var books []*book
	for index := 0; index < int(arguments.First); index++ {
		number := 100*s.number + index
		item := &book{
			ID:       graphql.ID(fmt.Sprint(number)),
			Title:    fmt.Sprint("The Title of Book ", number),
			Author:   fmt.Sprint("Author ", number%10),
			Status:   "READ",
			AddedAt:  fmt.Sprintf("2026-01-%dT12:00:00Z", number%18+10),
			CoverUrl: fmt.Sprintf("https://covers.example.com/1/%d.jpg", number),
		}
		if number%3 == 0 {
			item.Review = &review{Rating: int32(number%5 + 1)}
		}
		books = append(books, item)
	}
	return books
}

func main() {
	schema := graphql.MustParseSchema(sdl, &resolver{}, graphql.UseFieldResolvers())
	http.Handle("/graphql", &relay.Handler{Schema: schema})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
