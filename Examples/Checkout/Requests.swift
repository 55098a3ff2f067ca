import Errand

struct Cart: Codable, Sendable {
    var id: Int
    var item: String
}

struct Stock: Codable, Sendable {
    var available: Bool
}

struct Price: Codable, Sendable {
    var cents: Int
}

struct Order: Codable, Sendable {
    var number: Int
    var cents: Int
}

struct SoldOut: Error {
    var item: String
}

struct GetCart: Request {
    typealias Output = Cart
    var path: String { "cart" }
}

struct CheckStock: Request {
    typealias Output = Stock
    var cart: Int
    var path: String { "carts/\(cart)/stock" }
}

struct GetPrice: Request {
    typealias Output = Price
    var cart: Int
    var path: String { "carts/\(cart)/price" }
}

struct PlaceOrder: Request {
    typealias Output = Order
    var cart: Int
    var cents: Int
    var method: HTTPMethod { .post }
    var path: String { "orders" }
    var parameters: Parameters? { ["cart": cart, "cents": cents] }
}
