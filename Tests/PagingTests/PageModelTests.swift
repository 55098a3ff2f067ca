import Errand
import ErrandEssentials
import ErrandPaging
import ErrandTesting
import Observation
import Synchronization
import Testing

@Suite("Pages that a view observes", .endsInTime, .leakChecked) @MainActor struct PageModelTests {
    private func model(_ count: Int) -> (PageModel<Int, Numbers>, NumberServer) {
        let server = NumberServer(.number(first: 1), count)
        return (PageModel(GetNumbers(page: .number()), on: server.agent), server)
    }

    /// Counts changes of the values a closure reads, and observes again after each change. The model keeps the
    /// closure meanwhile.
    @MainActor private final class View {
        private(set) var changes = 0

        func observe(_ read: @escaping @MainActor () -> Void) {
            withObservationTracking(read) { [weak self] in
                MainActor.assumeIsolated {
                    self?.changes += 1
                    // The change itself comes after this call.
                    Task { @MainActor in self?.observe(read) }
                }
            }
        }
    }

    @Test("a view that reads the items is notified when a page has arrived, and the model has it when the call returns")
    func items() async throws {
        let (model, _) = model(25)
        let view = View()
        view.observe { [weak model] in _ = model?.items }
        try await model.next()
        #expect(model.items == Array(0..<10) && !model.isLoading && model.isFirst && !model.isLast)
        #expect(view.changes == 1)
        for number in 2...3 { #expect(try await model.next()?.number == number) }
        #expect(try await model.next() == nil)
        #expect(model.items == Array(0..<25) && model.isLast && model.total == 25 && model.page?.number == 3)
    }

    @Test("a view that reads other properties is notified of the loading state, but not of a page")
    func loading() async throws {
        let (model, server) = model(25)
        let gate = Gate()
        server.gate = gate
        let (pages, loading) = (View(), View())
        pages.observe { [weak model] in _ = model?.pages }
        loading.observe { [weak model] in _ = model?.isLoading }
        let next = Task { try await model.next() }
        try await gate.reached()
        try await eventually { model.isLoading }
        #expect(pages.changes == 0 && loading.changes == 1)
        gate.open()
        _ = try await next.value
        #expect(pages.changes == 1 && !model.isLoading)
    }

    @Test("an error is shown until the next load, and errors of background loads are shown too")
    func controller() async throws {
        let (model, server) = model(25)
        server.fail(at: 1)
        await #expect(throws: ErrandError.self) { try await model.next() }
        #expect(model.error is ErrandError && model.pages.isEmpty)
        try await model.controller.next()
        try await eventually { model.items == Array(0..<10) }
        try await eventually { model.error == nil }
        try await model.load(page: 3)
        #expect(model.items == Array(20..<25))
        try await model.previous()
        try await model.refresh()
        #expect(model.page?.number == 2)
        try await model.reload()
        #expect(model.page?.number == 1)
    }

    @Test("a model is released with its last view, and its controller with it")
    func end() async throws {
        var pair: (PageModel<Int, Numbers>, NumberServer)? = model(25)
        try await pair?.0.next()
        weak let model = pair?.0
        let states = try #require(pair?.0.controller.states)
        pair = nil
        #expect(model == nil)
        for await _ in states {}
    }
}
