import Testing

@testable import GraphQLNIO

@Suite struct HTTPDateTests {
    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_827_696, "Tue, 29 Feb 2000 12:34:56 GMT"),
    ])
    func datesAreFormatted(second: Int, text: String) {
        #expect(HTTPDate.text(of: second) == text)
    }
}
