// The code of docs/batch.md and docs/chain.md. DocumentationTests compares the two.
import Errand
import ErrandBatch
import ErrandChain
import Foundation

private struct GetFeed: Request { typealias Output = [String] }

private struct GetFile: Request {
    let path: String
    init(_ path: String) { self.path = path }
}

private struct GetLines: Request {
    typealias Output = [String]
    let order: Int
}

private struct GetTotal: Request {
    typealias Output = Int
    let lines: [String]
}

@MainActor private final class ListScreen: BatchDelegate, ChainDelegate {}

private func batches(
    _ agent: NetworkAgent, ids: [Int], mirrors: [String], photos: [String], orders: [Int], screen: ListScreen
) async throws {
    let (user, feed) = try await agent.run(Batch(GetUser(id: 7), GetFeed()))

    let users = try await agent.run(Batch(ids.map(GetUser.init), maximumConcurrent: 8, policy: .collectAll))
    _ = (user, feed, users, CacheShare(user, feed))

    do {
        let fastest = try await agent.run(Batch(mirrors.map(GetFile.init), policy: .firstSuccess))
        print("mirror \(fastest.index) was first")
    } catch let error as BatchError {
        for failure in error.failures { print(failure.label, failure.error) }
    }

    let batch = Batch(photos.map(GetFile.init), maximumConcurrent: 4, policy: .collectAll)
    for try await (index, result) in agent.results(of: batch) {
        print(index, (try? result.get().value.count) ?? 0)
    }

    let handle = agent.start(
        running: Batch(ids.map(GetUser.init), label: "friends"), delegate: screen,
        options: CallOptions(progress: { print($0.fraction ?? 0) })
    ) { result in
        print(result)
    }
    handle.cancel()

    let totals = try await agent.run(
        Batch(of: orders, maximumConcurrent: 4) { agent, order in
            let lines = try await agent.send(GetLines(order: order)).value
            return try await agent.send(GetTotal(lines: lines)).value
        })
    _ = totals
}

private nonisolated struct Cart: Codable, Sendable { let id: Int }
private nonisolated struct Order: Codable, Sendable { let id: Int }
private nonisolated struct Account: Codable, Sendable {
    let id: Int
    let isNew: Bool
    let isBanned: Bool
}

private struct GetCart: Request { typealias Output = Cart }
private struct CheckStock: Request {
    typealias Output = Int
    let cart: Cart
}
private struct GetPrice: Request {
    typealias Output = Int
    let cart: Cart
}
private struct PlaceOrder: Request {
    typealias Output = Order
    init(stock: Int, price: Int) {}
    init(cart: Cart) {}
}
private struct GetReceipt: Request { let order: Int }
private struct Register: Request {
    typealias Output = Account
    let name: String
}
private struct SendWelcome: Request { let account: Int }
private struct GetProfile: Request { let account: Int }

private func chains(_ agent: NetworkAgent, checkout: Chain<Order>, screen: ListScreen) async throws {
    let order = try await agent.run(
        Chain("checkout") { steps in
            let cart = try await steps.send(GetCart()).value
            let (stock, price) = try await steps.run(Batch(CheckStock(cart: cart), GetPrice(cart: cart)))
            return try await steps.send(PlaceOrder(stock: stock.value, price: price.value)).value
        })

    do {
        _ = try await agent.run(checkout)
    } catch let error as ChainError {
        print("step \(error.index), \(error.label), failed: \(error.underlying)")
    } catch let error as ErrandError where error.isCancelled {
        print("cancelled")
    }

    let linked = Chain("receipt", GetCart())
        .then { cart in PlaceOrder(cart: cart.value) }
        .then { order in GetReceipt(order: order.value.id) }
    let receipt = try await agent.run(linked).value

    let signUp = Chain(
        "sign up",
        steps: [
            ChainStep(Register(name: "Ada")) { account, steps in
                if account.value.isNew { steps.append(ChainStep(SendWelcome(account: account.value.id))) }
                if account.value.isBanned { steps.cancel() }
            },
            ChainStep(after: Account.self, label: "profile") { account in GetProfile(account: account.id) },
        ])
    agent.start(running: signUp, delegate: screen) { result in print(result) }
    _ = (order, receipt)
}
