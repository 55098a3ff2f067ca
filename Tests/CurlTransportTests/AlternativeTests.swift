#if os(Linux)
import Dispatch
import ErrandEssentials
import Foundation
import Testing

@testable import ErrandCurlTransport

@Suite("Offers of HTTP/3") struct AlternativeTests {
    private typealias Route = AlternativeTable.Route
    private static let origin = "https://example.com"
    private static let second: UInt64 = 1_000_000_000

    private func table(_ services: [AlternativeService] = [AlternativeService("h3", port: 443)]) -> AlternativeTable {
        var table = AlternativeTable()
        _ = table.learn(services, of: Self.origin, host: "example.com", at: 0)
        return table
    }

    @Test("Alt-Svc is read with authorities, parameters and clear, and nonsense is ignored (RFC 7838)")
    func alternativeServices() {
        let lines = [
            #"h3=":443"; ma=2592000; persist=1, h2="alt.Example.com:8443", w%3Dx%3Ay="[::1]:80"; ma=soon"#,
            #" h3-29=":50781";ma="60";v="a,b""#,
        ]
        #expect(
            AlternativeService.parse(lines) == [
                AlternativeService("h3", port: 443, maximumAge: 2_592_000, isPersistent: true),
                AlternativeService("h2", host: "alt.example.com", port: 8443),
                AlternativeService("w=x:y", host: "::1", port: 80),
                AlternativeService("h3-29", port: 50_781, maximumAge: 60),
            ])
        #expect(AlternativeService.parse([" clear "]) == nil)
        #expect(AlternativeService.parse([#"h3=":443""#, "clear"]) == nil)
        #expect(AlternativeService.parse(["Clear"])?.isEmpty == true)
        for text in [
            "", "h3", "h3=:443", #"h3="443""#, #"h3=":""#, #"h3=":0""#, #"h3=":65536""#, #"h3=":443"#, #"=":443""#,
            #"h3=":443"x"#,
            #"h3="a b:443""#, #"h%zz=":443""#, #"h3=":+443""#,
        ] {
            #expect(AlternativeService.parse([text])?.isEmpty == true, "\(text)")
        }
        #expect(AlternativeService.parse([String(repeating: #"h3=":443","#, count: 1_000)])?.count == 32)
        #expect(AlternativeService.parse([#"h3=":443"; ma=99999999999999999999"#])?.first?.maximumAge == 86_400)
    }

    @Test("one request tries an offer, and all requests use the offer after that request succeeded")
    func probe() {
        var table = table()
        #expect(table.route(for: Self.origin, at: 1) == Route(host: "example.com", port: 443, isProbe: true))
        #expect(table.route(for: Self.origin, at: 2) == nil)
        table.confirm(Self.origin)
        #expect(table.route(for: Self.origin, at: 3) == Route(host: "example.com", port: 443, isProbe: false))
        #expect(table.route(for: "https://example.com:8443", at: 3) == nil)
    }

    @Test("an attempt without a result leaves the offer to the next request")
    func withdrawn() {
        var table = table()
        #expect(table.route(for: Self.origin, at: 1)?.isProbe == true)
        table.withdraw(Self.origin)
        #expect(table.route(for: Self.origin, at: 1)?.isProbe == true)
        table.confirm(Self.origin)
        table.withdraw(Self.origin)
        #expect(table.route(for: Self.origin, at: 1)?.isProbe == false)
    }

    @Test("a failed offer is ignored for five minutes, and for twice as long after each further failure, up to a day")
    func broken() {
        var table = table([AlternativeService("h3", port: 443, maximumAge: 90 * 86_400)])
        var now: UInt64 = 1
        for minutes in [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440, 1440] as [UInt64] {
            #expect(table.route(for: Self.origin, at: now)?.isProbe == true)
            table.fail(Self.origin, at: now)
            // The other requests on the same connection fail, too.
            table.fail(Self.origin, at: now + 1)
            let end = now + minutes * 60 * Self.second
            #expect(table.route(for: Self.origin, at: end - 1) == nil)
            now = end
        }
        #expect(table.route(for: Self.origin, at: now)?.isProbe == true)
        table.confirm(Self.origin)
        table.fail(Self.origin, at: now)
        #expect(table.route(for: Self.origin, at: now + 300 * Self.second)?.isProbe == true)
    }

    @Test("an offer lasts as long as the server specifies, and repeating it keeps its state")
    func expiry() {
        var table = table([AlternativeService("h3", port: 443, maximumAge: 60)])
        _ = table.route(for: Self.origin, at: 1)
        table.fail(Self.origin, at: 1)
        let again = [AlternativeService("h3", port: 443, maximumAge: 120)]
        let isMuchLater = table.learn(again, of: Self.origin, host: "example.com", at: 30 * Self.second)
        #expect(isMuchLater)
        let isLater = table.learn(again, of: Self.origin, host: "example.com", at: 31 * Self.second)
        #expect(!isLater)
        #expect(table.route(for: Self.origin, at: 61 * Self.second) == nil)
        #expect(table.offers(at: 150 * Self.second).count == 1)
        #expect(table.offers(at: 151 * Self.second).isEmpty)
        #expect(table.route(for: Self.origin, at: 400 * Self.second) == nil)
    }

    @Test("clear, another list and another location replace an offer, and drafts of HTTP/3 are ignored")
    func replaced() {
        var table = table()
        let isKnown = table.learn([AlternativeService("h3-29", port: 443)], of: "https://a", host: "a", at: 0)
        #expect(!isKnown)
        let moved = [AlternativeService("h2", port: 1), AlternativeService("h3", host: "b.example", port: 8443)]
        let isMoved = table.learn(moved, of: Self.origin, host: "example.com", at: 0)
        #expect(isMoved)
        #expect(table.route(for: Self.origin, at: 1) == Route(host: "b.example", port: 8443, isProbe: true))
        let isCleared = table.learn(nil, of: Self.origin, host: "example.com", at: 0)
        #expect(isCleared)
        #expect(table.isEmpty)
        let isClearedTwice = table.learn(nil, of: Self.origin, host: "example.com", at: 0)
        #expect(!isClearedTwice)
        _ = table.learn(moved, of: Self.origin, host: "example.com", at: 0)
        let isEnded = table.learn(
            [AlternativeService("h3", port: 443, maximumAge: 0)], of: Self.origin, host: "a", at: 0)
        #expect(isEnded)
        #expect(table.isEmpty)
    }

    @Test("of the offers of twenty thousand hosts, the thousand that last longest are kept")
    func bound() {
        var table = AlternativeTable()
        for index in 1...20_000 {
            let services = [AlternativeService("h3", port: 443, maximumAge: index)]
            _ = table.learn(services, of: "https://h\(index)", host: "h\(index)", at: 0)
        }
        let ages = table.offers(at: 0).map { $0.expires / Self.second }.sorted()
        #expect(ages.count <= AlternativeTable.maximumOrigins && ages.count >= 900)
        #expect(ages.last == 20_000 && (ages.first ?? 0) > 18_900)
    }

    @Test("a file keeps the offers and their expiration for a process with another clock")
    func file() throws {
        let folder = try Folder()
        let file = AlternativeFile(folder.file("offers"))
        let date = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(file.read(at: 0, date: date).isEmpty)
        let offers = [
            AlternativeTable.Offer(
                origin: "https://a.example", host: "b.example", port: 443, expires: 100 * Self.second),
            AlternativeTable.Offer(
                origin: "https://b.example:8443", host: "::1", port: 8443, expires: 50 * Self.second),
        ]
        file.write(offers, at: 10 * Self.second, date: date)
        let later = file.read(at: 7 * Self.second, date: date.addingTimeInterval(40))
        #expect(
            later == [
                AlternativeTable.Offer(
                    origin: "https://a.example", host: "b.example", port: 443, expires: 57 * Self.second)
            ])
        let back = file.read(at: 0, date: date.addingTimeInterval(-1e9))
        #expect(back.count == 2 && back.allSatisfy { $0.expires <= 365 * 86_400 * Self.second })
    }

    @Test("if offers change while the file is being written, their last state is written once more")
    func writes() async throws {
        let (written, disk) = (Log<UInt64>(), DispatchSemaphore(value: 0))
        let writer = AlternativeWriter { snapshot in
            written.add(snapshot.now)
            if snapshot.now == 0 { disk.wait() }
        }
        do {
            defer { disk.signal() }
            writer.save(.init(offers: [], now: 0))
            try await eventually { !written.all.isEmpty }
            for now in 1...1_000 as ClosedRange<UInt64> { writer.save(.init(offers: [], now: now)) }
        }
        try await eventually { written.all.count > 1 }
        writer.save(.init(offers: [], now: 2_000))
        try await eventually { written.all.last == 2_000 }
        #expect(written.all == [0, 1_000, 2_000])
    }

    @Test("a host's addresses also apply to the port of an alternative, and an alternative host's to that host")
    func addresses() throws {
        var configuration = CurlConfiguration()
        configuration.addresses = ["a.example": ["192.0.2.1"], "b.example": ["2001:db8::1"]]
        let (table, url) = (try AddressTable(configuration), try #require(URL(string: "https://a.example/")))
        #expect(table.lines(for: url) == ["a.example:443:192.0.2.1"])
        let moved = Route(host: "a.example", port: 8443, isProbe: true)
        #expect(table.lines(for: url, by: moved) == ["a.example:8443:192.0.2.1"])
        let other = Route(host: "b.example", port: 443, isProbe: false)
        #expect(table.lines(for: url, by: other) == ["b.example:443:[2001:db8::1]"])
        let unknown = Route(host: "c.example", port: 443, isProbe: false)
        #expect(table.lines(for: url, by: unknown).isEmpty)
    }

    @Test("the intact parts of a damaged file are read, and reading never fails")
    func damagedFile() throws {
        let folder = try Folder()
        let file = AlternativeFile(folder.file("offers"))
        let date = Date(timeIntervalSince1970: 0)
        let lines = [
            "https://a.example a.example 443 10", "https://a.example a.example 443",
            "http://a.example a.example 443 10",
            "https://a.example a:b 443 10", "https://a.example a.example 0 10", "https://a.example a.example 65536 10",
            "https://a.example a.example 443 -5", "https://a.example a.example 443 99999999999999999999", "",
            "\u{FFFD}",
        ]
        try Data(lines.joined(separator: "\n").utf8).write(to: folder.file("offers"))
        #expect(file.read(at: 0, date: date).map(\.expires) == [10 * Self.second])
        var generator = SeededGenerator(seed: 7)
        let whole = Data(lines[0].utf8)
        for _ in 0..<2_000 {
            var bytes = whole
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            try bytes.write(to: folder.file("offers"))
            #expect(file.read(at: 0, date: date).count <= 2)
        }
        #expect(AlternativeFile(folder.url).read(at: 0, date: date).isEmpty)
    }
}
#endif
