import ErrandEssentials
import ErrandHTTPSyntax
import Testing

@Suite("HTTP dates (RFC 9110, section 5.6.7)", .leakChecked)
struct HTTPDateTests {
    private static let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(
        "the three date formats are read, with names in any case",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed Nov 16 08:49:37 1994", 784_975_777),
            ("THU, 18 AUG 2050 02:01:18 gmt", 2_544_400_878), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2000 23:59:60 GMT", 951_868_799), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Saturday, 01-Jan-00 00:00:00 GMT", 946_684_800), ("Sunday, 01-Jan-73 00:00:00 GMT", 3_250_454_400),
            ("Tuesday, 01-Jan-74 00:00:00 GMT", 126_230_400), ("Tue, 9 May 2017 18:49:57 GMT", 1_494_355_797),
        ])
    func reads(text: String, seconds: Double) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "text that is almost a date isn't a date",
        arguments: [
            "", "0", "-1", "now", ",", ", 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37 GMT",
            "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
            "Sun, 30 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
            "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ",
            "Sun, 06 Nov 1994 08:49:37", "Son, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
            "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 0 Nov 1994 08:49:37 GMT", "Sun, 006 Nov 1994 08:49:37 GMT",
            "Sunday, 6-Nov-94 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT, x",
        ])
    func refuses(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }

    @Test("written dates can be read, for any second of 10,000 years")
    func roundTrip() {
        var seconds = -62_167_219_200.0
        while seconds < 253_402_300_799 {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(HTTPDate.parse(HTTPDate.format(date)) == date)
            seconds += 86_400 * 97 + 7919
        }
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 784_111_777.9)) == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: -1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
        #expect(HTTPDate.format(.distantFuture) == "Mon, 01 Jan 4001 00:00:00 GMT")
        #expect(HTTPDate.format(Date(timeIntervalSince1970: 1e300)) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }
}
