mod allow; mod api; mod directory; mod errors; mod event; mod ids; mod lines; mod options; mod outbox; mod recent;
pub use allow::{Allow, AllowError};
pub use options::{Api, Options, Shards};
const NAME: &str = "discord";
