import Errand
import ErrandCoalescing
import ErrandExampleShop
import ErrandSystemTransport
import ErrandTesting

/// Ten screens request the same resource at the same time.
enum SharingChapter {
    static func run() async throws {
        Chapter.begin("Sharing: equal requests under way make one")
        let server = try TestServer()
        let gate = Gate()
        let recorder = RecordingAccessory()
        server.on("/profile", .text("Ada").waiting(for: gate))
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.coalescing], accessories: [recorder])
        let screens = (1...10).map { number in
            agent.start(Call<String>(.get, "profile"), options: CallOptions(label: "screen \(number)"))
        }
        try await gate.reached()
        try await recorder.wait(for: "note", count: 9)
        // The first screen started the exchange. It cancels, and the others still get the response.
        screens[0].cancel()
        gate.open()
        var names: [String] = []
        for screen in screens.dropFirst() { names.append(try await screen.value.value) }
        Chapter.line("9 screens got \(Set(names)), the tenth had closed")
        Chapter.line("requests on the wire: \(server.received.count)")
        Chapter.end()
    }
}
