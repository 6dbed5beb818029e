import Testing

@testable import Bookplate

@Suite struct PurchaseLinksTests {
    @Test(
        arguments: [
            (
                "9780306406157", "T", "A", "tag-20", "77",
                "https://www.amazon.com/dp/0306406152?tag=tag-20",
                "https://bookshop.org/a/77/9780306406157"
            ),
            (
                "9780306406157", "T", "A", nil, nil, "https://www.amazon.com/dp/0306406152",
                "https://bookshop.org/book/9780306406157"
            ),
            // ISBNs with the prefix 979 have no ISBN-10, which Amazon uses as its product number.
            (
                "9791032305690", "T", "A", "tag-20", "77",
                "https://www.amazon.com/s?k=9791032305690&i=stripbooks&tag=tag-20",
                "https://bookshop.org/a/77/9791032305690"
            ),
            (
                nil, "Don't & stop", "Émile", nil, "77",
                "https://www.amazon.com/s?k=Don%27t%20%26%20stop%20%C3%89mile&i=stripbooks",
                "https://bookshop.org/search?keywords=Don%27t%20%26%20stop%20%C3%89mile"
            ),
            (
                nil, "a?b=c#d/e", nil, "t", nil,
                "https://www.amazon.com/s?k=a%3Fb%3Dc%23d%2Fe&i=stripbooks&tag=t",
                "https://bookshop.org/search?keywords=a%3Fb%3Dc%23d%2Fe"
            ),
        ] as [(String?, String, String?, String?, String?, String, String)])
    func linkToBothShops(
        isbn: String?, title: String, author: String?, tag: String?, shop: String?, amazon: String,
        bookshop: String
    ) {
        let links = Stores(amazonTag: tag, bookshopID: shop).links(
            isbn: isbn.flatMap { ISBN($0) }, title: title, author: author)
        #expect(links.map(\.store) == [.amazon, .bookshop])
        #expect(links.map(\.url) == [amazon, bookshop])
    }
}
