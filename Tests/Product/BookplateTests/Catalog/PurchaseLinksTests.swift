import GraphQL
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
        let stores = Stores(amazonTag: tag, bookshopID: shop)
        #expect(url(.amazon, stores, isbn, title, author) == amazon)
        #expect(url(.bookshop, stores, isbn, title, author) == bookshop)
    }

    private func url(
        _ store: Bookstore, _ stores: Stores, _ isbn: String?, _ title: String, _ author: String?
    ) -> String {
        var writer = ResponseWriter()
        Array(title.utf8).withUnsafeBytes { title in
            Array((author ?? "").utf8).withUnsafeBytes { cell in
                let digits = isbn.flatMap { Array($0.utf8).withUnsafeBytes { ISBNDigits($0) } }
                stores.append(
                    .init(isbn: digits, title: title, author: author == nil ? nil : cell), store,
                    to: &writer)
            }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
