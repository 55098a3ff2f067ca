import Errand
import ErrandConformance
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

/// Writes the beginning of JSON and forms. The wrong form only masks the spelling that encoders write.
final class BodyLines: Accessory {
    private let lines = Mutex<[String]>([])
    private let masks: @Sendable (String) -> String

    init(masks: @escaping @Sendable (String) -> String) { self.masks = masks }

    var maximumBodyBytes: Int { 4_096 }
    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    func activity(_ activity: Activity, did event: ActivityEvent) {
        guard case .requestBody(let data, _) = event else { return }
        let line = masks(String(decoding: data, as: UTF8.self))
        lines.withLock { lines in
            if lines.count > 100 { lines.removeFirst() }
            lines.append(line)
        }
    }

    /// Masks the member if it's written without blanks and escapes.
    static func onePattern(_ text: String) -> String {
        var text = text
        for name in ["password", "access_token", "client_secret"] {
            text = text.replacing("\"\(name)\":\"law-secret", with: "\"\(name)\":\"***")
            text = text.replacing("\(name)=law-secret", with: "\(name)=***")
        }
        return text
    }
}

@Suite("Accessories that mask by a pattern are judged by the laws", .endsInTime)
struct FurtherAccessoryTests {
    private static let calls = (0..<8).map { index in
        LawExchange(
            .put, "https://conformance.example/v1/\(index)", timeout: .seconds(90), replies: [LawReply(body: .none)])
    }

    @Test("a law refuses an accessory that masks one spelling, and accepts one that masks all")
    func spellings() async throws {
        let calls = Self.calls
        await #expect(throws: ConformanceFailure.self) {
            try await AccessoryConformance.check(
                { BodyLines(masks: BodyLines.onePattern) }, output: { $0.text }, calls[0], calls[1], calls[2], calls[3],
                calls[4], calls[5], calls[6], calls[7])
        }
        try await AccessoryConformance.check(
            { BodyLines { "\($0.count) characters" } }, output: { $0.text }, calls[0], calls[1], calls[2], calls[3],
            calls[4], calls[5], calls[6], calls[7])
    }
}
