import GraphQL

extension RequestLimits {
    /// The maximum memory of the rows that the levels of one operation load: twice the maximum size of the response, and
    /// at least 16 MiB.
    ///
    /// Without it, rows of any size would be loaded for a response that is refused because of its size. The rows need not
    /// be smaller than the response: they also hold columns that the response does not, and libpq needs 16 bytes for each
    /// cell, even if it is null. With 10,000 objects, the most that is allowed, a response of 8 MiB consists of about
    /// 800 bytes for each object. Twice that leaves room for the overhead of 40 cells in each row.
    var rowBytesMax: Int {
        let (twice, overflow) = responseBytesMax.multipliedReportingOverflow(by: 2)
        return overflow ? .max : max(twice, 16 << 20)
    }
}
