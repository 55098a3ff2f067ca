// The tests of docs/tutorials/tests.md.
import Errand
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("The tutorial of tests without a network", .leakChecked) struct OfflineTestsTutorialTests {
    typealias GetStation = FirstAppTutorial.GetStation
    typealias StationScreen = FirstAppTutorial.StationScreen

    @Test("a request is what the server expects")
    func sent() async throws {
        let stub = StubTransport(.status(201))
        let agent = NetworkAgent(baseURL: "https://bikes.example.com/v1", transport: stub)
        try await agent.send(FirstAppTutorial.RentBike(station: 7, user: "ada"))
        let request = try #require(stub.received.first)
        #expect(request.method == .post && request.url.path == "/v1/stations/7/rentals")
        #expect(request.body.data == Data(#"{"user":"ada"}"#.utf8))
    }

    struct OneStation: Agent {
        func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
            let station = FirstAppTutorial.Station(id: 7, name: "Harbour", bikes: 3)
            guard let value = station as? R.Output else { throw ErrandError(.invalidRequest, "no fake response") }
            return Response(value: value, http: HTTPResponse(url: URL(filePath: "/"), status: 200))
        }
    }

    @Test("a screen needs no transport")
    @MainActor func screen() async throws {
        let screen = StationScreen(agent: OneStation())
        await screen.load(7)
        #expect(screen.text == "Harbour: 3 bikes")
    }

    @Test("a silent server times out, without waiting in real time")
    func silence() async throws {
        let time = ManualTimeSource()
        let agent = NetworkAgent(
            baseURL: "https://bikes.example.com", transport: .stub(.json("{}").delayed(by: .seconds(90))), time: time)
        let task = Task { try await agent.send(GetStation(id: 7)) }
        try await time.waitForSleepers()
        time.advance(by: .seconds(60))
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.code == .timedOut)
    }

    @Test("a response that breaks off fails, on a real connection")
    func brokenOff() async throws {
        let server = try TestServer()
        server.on(.get, "/stations/7", .json(#"{"id":7,"name":"Harbour","bikes":3}"#).truncated(to: 10))
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let error = await #expect(throws: ErrandError.self) { try await agent.send(GetStation(id: 7)) }
        #expect(error?.code == .truncated && error?.isRetryable == true)
    }

    @Test("a request that is cancelled ends as cancelled")
    func cancelled() async throws {
        let gate = Gate()
        let agent = NetworkAgent(
            baseURL: "https://bikes.example.com", transport: .stub(.json("{}").waiting(for: gate)))
        let task = Task { try await agent.send(GetStation(id: 7)) }
        try await gate.reached()
        task.cancel()
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.isCancelled == true)
    }
}
