import Errand
import ErrandExampleShop
import ErrandLoadingIndicatorLog
import ErrandSystemTransport
import ErrandTesting

/// Shows a loading indicator for a slow response, but not for a fast one.
enum LoadingChapter {
    private struct Lines: LoadingPresenter {
        func present(_ state: LoadingState) {
            Chapter.line(state.isShown ? "[\(state.label ?? "")]" : "[nothing is loading]")
        }
    }

    static func run(_ shop: Shop) async throws {
        Chapter.begin("A loading indicator, for what takes longer than a blink; a log without secrets")
        let gate = Gate()
        shop.server.on(.get, "/v1/catalogue", .text("three apples").waiting(for: gate))
        let indicator = LoadingIndicator(Lines(), label: "Loading…", minimumDuration: .zero)
        let log = RequestLog(to: ClosureSink { Chapter.line($0.line.replacing(#/\d+\.\d ms/#, with: "… ms")) })
        let agent = NetworkAgent(baseURL: shop.server.url("v1"), transport: .system, accessories: [indicator, log])
        let fast = try await agent.send(GetText(path: "ping")).value
        Chapter.line("\(fast), and nothing was shown")
        async let slow = agent.send(GetText(path: "catalogue")).value
        for await state in indicator.states where state.isShown { break }
        gate.open()
        Chapter.line("\(try await slow)")
        for await state in indicator.states where !state.isShown { break }
        _ = try await agent.send(GetText(path: "ping?session_token=1234567890"))
        await log.flush()
        Chapter.end()
    }
}
