import Errand
import ErrandBatch
import ErrandChain
import ErrandTesting
import Synchronization

/// A chain with a batch in it: A, then B and C with A's result, then D with both. Runs against a shop in memory.
@main struct Checkout {
    static func main() async throws {
        let agent = NetworkAgent(
            baseURL: "https://shop.example/v1", transport: shop(), accessories: [Printer()])

        let order = try await agent.run(
            Chain("checkout") { steps in
                let cart = try await steps.send(GetCart()).value
                let (stock, price) = try await steps.run(
                    Batch(CheckStock(cart: cart.id), GetPrice(cart: cart.id), label: "stock and price"))
                guard stock.value.available else { throw SoldOut(item: cart.item) }
                return try await steps.send(PlaceOrder(cart: cart.id, cents: price.value.cents)).value
            })
        print("order \(order.number) over \(order.cents) cents")

        // The same chain without its last step. The error names the step that failed.
        do {
            _ = try await agent.run(
                Chain("checkout of nothing", GetCart()).then { cart in GetPrice(cart: cart.value.id + 1) })
        } catch let error as ChainError {
            print("failed as it should: \(error)")
        }
    }

    private static func shop() -> StubTransport {
        .stub(
            StubRule(.get, "/v1/cart", response: .json(#"{"id":7,"item":"tea"}"#)),
            StubRule(.get, "/v1/carts/7/stock", response: .json(#"{"available":true}"#)),
            StubRule(.get, "/v1/carts/7/price", response: .json(#"{"cents":1250}"#)),
            StubRule(.get, "/v1/carts/8/price", response: .status(404)),
            StubRule(.post, "/v1/orders", response: .json(#"{"number":42,"cents":1250}"#, status: 201)))
    }
}

/// Prints the start and end of each activity, with parts indented below their parent.
private final class Printer: Accessory {
    private let depths = Mutex<[Activity.ID: Int]>([:])

    func activity(_ activity: Activity, did event: ActivityEvent) {
        let depth = depths.withLock { depths in
            let depth = activity.parent.flatMap { depths[$0] }.map { $0 + 1 } ?? 0
            depths[activity.id] = depth
            if case .didStop = event { depths[activity.id] = nil }
            return depth
        }
        let what = "\(activity.kind) \(activity.label)"
        let indent = String(repeating: "    ", count: depth)
        switch event {
        case .willStart: print("\(indent)\(what) begins")
        case .didStop(.success): print("\(indent)\(what) succeeded")
        case .didStop(.failure): print("\(indent)\(what) failed")
        case .didStop(.cancelled): print("\(indent)\(what) was cancelled")
        default: break
        }
    }
}
