#if os(Linux) || os(macOS)
import Testing

@Suite("The example of a feed", .endsInTime, .leakChecked) struct FeedTests {
    @Test("sign-in, expiry, pages, retries and a cache work together against a server that misbehaves")
    func feed() async throws {
        let output = try await Program(built: "errand-feed").run([])
        #expect(output.status == 0 && !output.wasKilled, "\(output)\n\(output.text)")
        for line in [
            "  signing in", "  refreshing the token", "  page 4 of 4: 5 articles", "  shows 35 of 35 articles",
            "Every article came once and in order.",
        ] { #expect(output.text.contains(line), "\(output.text)") }
        #expect(!output.text.contains("token-"))
    }
}
#endif
