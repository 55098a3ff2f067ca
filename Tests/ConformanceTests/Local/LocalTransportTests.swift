import Errand
import ErrandConformance
import ErrandTesting
import Foundation
import Testing

@Suite("Transports that respond themselves are judged by the suite", .endsInTime, .leakChecked)
struct LocalTransportTests {
    private static let options = LawOptions(rounds: 60, budget: .seconds(600))
    private static let names = TransportConformance.localCases(serving: { ShelfTransport($0) }).map(\.name)

    private static func group(_ difference: String) -> String {
        "resources whose URLs differ only in \(difference) aren't confused"
    }

    private static let twice =
        "a request's body gives the same response as data, as a file, and as a stream that is read once"
    private static let company = "law: concurrent requests get the same responses as single ones"
    private static let history = "law: a response is the same after any other requests, however these ended"
    private static let part = "law: a part of a body is the part that was requested, or the whole body is returned"
    private static let dates =
        "law: a response is the same if the date is set back or forward, and doesn't wait for a date"

    /// The case that catches each mistake.
    private static let refusals: [(ShelfTransport.Mistake, String)] = [
        (.foldsCase, group("case")), (.decodesSlashes, group("an encoded slash")),
        (.decodesTwice, group("an encoded percent sign")), (.takesPlusForSpace, group("a space and a plus sign")),
        (.addsExtensions, group("a longer or shorter name")), (.findsByPattern, group("characters that are wildcards")),
        (.decodesBeforeQuery, group("characters that mark a query or fragment")),
        (.composesText, group("a Unicode composition")), (.ignoresQuery, group("their query")),
        (.sortsQuery, group("the order of their query")), (.decodesQuery, group("encoded characters of their query")),
        (.ignoresHosts, group("their host or port")),
        (.ignoresMethods, "a request that changes a resource isn't answered like a GET"), (.readsBodyTwice, twice),
        (.comparesNamesExactly, "law: a response doesn't depend on the case of the request's field names"),
        (.endsPartsEarly, part), (.returnsPartForWhole, part),
        (.servesMissing, "a resource that doesn't exist is an error or a status of 400 or more"),
        (.throwsForeignErrors, "a resource that doesn't exist is an error or a status of 400 or more"),
        (.savesFilesItself, "a response is the same if its body is saved to a file"),
        (.reportsTwice, "progress never decreases, and ends at the length of the body"),
        (.labelsAllAsText, "each resource is returned with its own bytes and type, for each delivery"),
        (.remembersCancellations, history), (.keepsLastHeaders, history),
        (.sharesReader, company), (.waitsForDate, dates), (.countsAgeByDate, dates),
    ]

    @Test("a case refuses a wrong transport", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (mistake, name) = Self.refusals[index]
        let cases = TransportConformance.localCases(
            serving: { ShelfTransport($0, mistake) }, laws: Self.options, within: .seconds(8))
        let each = try #require(cases.first { $0.name == name })
        await #expect(throws: ConformanceFailure.self, "\(mistake)") { try await each.run() }
    }

    @Test("a case refuses a transport that reads a body that doesn't arrive after its cancellation")
    func uncancelled() async throws {
        let cases = TransportConformance.localCases(
            serving: { ShelfTransport($0, .ignoresCancellations) }, within: .seconds(3))
        let each = try #require(
            cases.first { $0.name == "a cancellation ends a request whose body doesn't arrive" })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test("a failure of a law lists the fewest requests that show it")
    func shortest() async throws {
        let cases = TransportConformance.localCases(
            serving: { ShelfTransport($0, .keepsLastHeaders) }, laws: Self.options)
        let law = try #require(cases.first { $0.name == Self.history })
        let failure = await #expect(throws: ConformanceFailure.self) { try await law.run() }
        #expect(failure?.details.split(separator: "\n").count == 3, "\(failure?.details ?? "")")
    }

    @Test("no case refuses a right transport", arguments: names)
    func right(name: String) async throws {
        for each in TransportConformance.localCases(serving: { ShelfTransport($0) }, laws: Self.options)
        where each.name == name { try await each.run() }
    }

    @Test("no case refuses a right transport with an unusual design", arguments: names)
    func unusual(name: String) async throws {
        for each in TransportConformance.localCases(serving: { SlowShelf($0) }, laws: Self.options)
        where each.name == name { try await each.run() }
    }

    @Test("no case refuses a folder of files", arguments: names)
    func folder(name: String) async throws {
        for each in TransportConformance.localCases(serving: { try FolderTransport($0) }, laws: Self.options)
        where each.name == name { try await each.run() }
    }

    private static let folders: [(FolderTransport.Mistake, String)] = [
        (.decodesSlashes, group("an encoded slash")), (.keepsEscapes, group("an encoded percent sign")),
        (.namesEachResponse, "a response is the same each time and for each delivery, with the right length"),
        (.labelsAllAsText, "each resource is returned with its own bytes and type, for each delivery"),
    ]

    @Test("a case refuses a wrong folder of files", arguments: folders.indices)
    func wrongFolder(index: Int) async throws {
        let (mistake, name) = Self.folders[index]
        let cases = TransportConformance.localCases(serving: { try FolderTransport($0, mistake) }, laws: .off)
        let each = try #require(cases.first { $0.name == name })
        await #expect(throws: ConformanceFailure.self, "\(mistake)") { try await each.run() }
    }

    @Test("no case refuses a stub", arguments: names)
    func stub(name: String) async throws {
        let cases = TransportConformance.localCases(
            serving: { resources in
                StubTransport { request in
                    let url = request.url.absoluteString
                    guard let found = resources.first(where: { $0.url.utf8.elementsEqual(url.utf8) }) else {
                        return .status(404)
                    }
                    guard request.method == .get || request.method == .head else { return .status(405) }
                    return .data(found.body, contentType: found.contentType)
                }
            }, laws: Self.options)
        for each in cases where each.name == name { try await each.run() }
    }

    @Test("a case that a limitation excuses doesn't run")
    func excused() async throws {
        let name = Self.group("their query")
        let cases = TransportConformance.localCases(
            serving: { ShelfTransport($0, .ignoresQuery) }, laws: .off,
            knownLimitations: [.named(name, because: "a file has no query")])
        let each = try #require(cases.first { $0.name == name })
        await #expect(throws: ConformanceSkipped.self) { try await each.run() }
        #expect(!cases.contains { $0.name.hasPrefix("law: ") })
    }
}
