//! The AWS SDK for Rust: a table with an index, every type, pages, batches, transactions, statements, typed errors, waiters.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_sdk_dynamodb::client::Waiters;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue::{B, Bool, Bs, L, M, N, Ns, Null, S, Ss};
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, ConditionCheck, Get, GlobalSecondaryIndex, KeySchemaElement, KeyType,
    KeysAndAttributes, Projection, ProjectionType, Put, PutRequest, ReturnConsumedCapacity, ReturnValue,
    ReturnValuesOnConditionCheckFailure, ScalarAttributeType, TableStatus, TransactGetItem, TransactWriteItem, WriteRequest,
};
use aws_sdk_dynamodb::{Client, Config};

type Item = HashMap<String, AttributeValue>;
type Outcome = Result<(), Box<dyn std::error::Error>>;

const WAIT: Duration = Duration::from_secs(60);

struct Tour {
    client: Client,
    table: String,
}

fn text(value: &str) -> AttributeValue {
    S(value.to_string())
}

fn number(value: impl ToString) -> AttributeValue {
    N(value.to_string())
}

fn key(customer: &str, placed: u32) -> Item {
    HashMap::from([("customer".to_string(), text(customer)), ("placed".to_string(), number(placed))])
}

fn schema(hash: &str, sort: &str) -> Vec<KeySchemaElement> {
    [(hash, KeyType::Hash), (sort, KeyType::Range)]
        .map(|(name, kind)| KeySchemaElement::builder().attribute_name(name).key_type(kind).build().unwrap())
        .to_vec()
}

fn code<E: ProvideErrorMetadata, R>(error: &SdkError<E, R>) -> &str {
    error.code().unwrap_or("no code")
}

impl Tour {
    async fn creates_table(&self) -> Outcome {
        let index = GlobalSecondaryIndex::builder()
            .index_name("by-state")
            .set_key_schema(Some(schema("state", "placed")))
            .projection(Projection::builder().projection_type(ProjectionType::All).build())
            .build()?;
        let attributes = [("customer", ScalarAttributeType::S), ("placed", ScalarAttributeType::N), ("state", ScalarAttributeType::S)]
            .map(|(name, kind)| AttributeDefinition::builder().attribute_name(name).attribute_type(kind).build().unwrap());
        self.client
            .create_table()
            .table_name(&self.table)
            .billing_mode(BillingMode::PayPerRequest)
            .set_attribute_definitions(Some(attributes.to_vec()))
            .set_key_schema(Some(schema("customer", "placed")))
            .global_secondary_indexes(index)
            .send()
            .await?;
        let active = self.client.wait_until_table_exists().table_name(&self.table).wait(WAIT).await?;
        let described = active.into_result()?.table.unwrap();
        assert_eq!(described.table_status, Some(TableStatus::Active));
        let names: Vec<String> = self.client.list_tables().into_paginator().items().send().collect::<Result<_, _>>().await?;
        assert!(names.contains(&self.table));
        Ok(())
    }

    async fn keeps_every_type(&self) -> Outcome {
        let mut item = key("ann", 1);
        item.extend([
            ("price".to_string(), number("12.5")),
            ("long".to_string(), number("12345678901234567890123456789012345678")),
            ("paid".to_string(), Bool(true)),
            ("nothing".to_string(), Null(true)),
            ("photo".to_string(), B(Blob::new([0, 1, 255]))),
            ("tags".to_string(), Ss(vec!["a".to_string(), "b".to_string()])),
            ("sizes".to_string(), Ns(vec!["1".to_string(), "2".to_string()])),
            ("blobs".to_string(), Bs(vec![Blob::new("x")])),
            ("basket".to_string(), L(vec![M(HashMap::from([("sku".to_string(), text("ü"))]))])),
            ("empty".to_string(), text("")),
        ]);
        self.client.put_item().table_name(&self.table).set_item(Some(item.clone())).send().await?;
        let found = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key("ann", 1)))
            .consistent_read(true)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await?;
        assert_eq!(found.item, Some(item));
        assert_eq!(found.consumed_capacity.unwrap().capacity_units, Some(1.0));
        let missing = self.client.get_item().table_name(&self.table).set_key(Some(key("nobody", 1))).send().await?;
        assert_eq!(missing.item, None);
        Ok(())
    }

    async fn changes_items(&self) -> Outcome {
        let changed = self
            .client
            .update_item()
            .table_name(&self.table)
            .set_key(Some(key("ann", 1)))
            .update_expression("SET #s = :open, basket[1] = :line ADD price :more REMOVE nothing DELETE tags :tags")
            .condition_expression("paid = :yes AND size(photo) = :three")
            .expression_attribute_names("#s", "state")
            .expression_attribute_values(":open", text("open"))
            .expression_attribute_values(":line", text("second"))
            .expression_attribute_values(":more", number("7.5"))
            .expression_attribute_values(":tags", Ss(vec!["a".to_string()]))
            .expression_attribute_values(":yes", Bool(true))
            .expression_attribute_values(":three", number(3))
            .return_values(ReturnValue::AllNew)
            .send()
            .await?
            .attributes
            .unwrap();
        assert_eq!(changed["price"], number(20));
        assert_eq!(changed["tags"], Ss(vec!["b".to_string()]));
        assert!(!changed.contains_key("nothing"));
        let refused = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(key("ann", 1)))
            .condition_expression("attribute_not_exists(customer)")
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .send()
            .await
            .unwrap_err()
            .into_service_error();
        let PutItemError::ConditionalCheckFailedException(failed) = refused else { panic!("{refused:?}") };
        assert_eq!(failed.item.unwrap()["state"], text("open"));
        Ok(())
    }

    async fn reads_in_pages(&self) -> Outcome {
        let writes: Vec<WriteRequest> = (0..60)
            .map(|placed| {
                let mut item = key("bob", placed);
                item.insert("state".to_string(), text(&format!("s{}", placed % 2)));
                WriteRequest::builder().put_request(PutRequest::builder().set_item(Some(item)).build().unwrap()).build()
            })
            .collect();
        let too_many = self.client.batch_write_item().request_items(&self.table, writes.clone()).send().await.unwrap_err();
        assert_eq!(code(&too_many), "ValidationException");
        for part in writes.chunks(25) {
            let done = self.client.batch_write_item().request_items(&self.table, part.to_vec()).send().await?;
            assert!(done.unprocessed_items.unwrap_or_default().is_empty());
        }
        let found: Vec<Item> = self
            .client
            .query()
            .table_name(&self.table)
            .index_name("by-state")
            .key_condition_expression("#s = :s AND placed > :p")
            .expression_attribute_names("#s", "state")
            .expression_attribute_values(":s", text("s1"))
            .expression_attribute_values(":p", number(20))
            .scan_index_forward(false)
            .limit(7)
            .into_paginator()
            .items()
            .send()
            .collect::<Result<_, _>>()
            .await?;
        let placed: Vec<AttributeValue> = found.into_iter().map(|mut item| item.remove("placed").unwrap()).collect();
        assert_eq!(placed, (21..60).rev().step_by(2).map(number).collect::<Vec<_>>());
        let scanned: Vec<Item> =
            self.client.scan().table_name(&self.table).limit(9).into_paginator().items().send().collect::<Result<_, _>>().await?;
        assert_eq!(scanned.len(), 61);
        let keys = [1, 2, 999].map(|placed| key("bob", placed)).to_vec();
        let wanted = KeysAndAttributes::builder().set_keys(Some(keys)).build()?;
        let batch = self.client.batch_get_item().request_items(&self.table, wanted).send().await?;
        assert_eq!(batch.responses.unwrap()[&self.table].len(), 2);
        Ok(())
    }

    fn put(&self, placed: u32) -> TransactWriteItem {
        let put = Put::builder().table_name(&self.table).set_item(Some(key("tx", placed))).build().unwrap();
        TransactWriteItem::builder().put(put).build()
    }

    fn get(&self, placed: u32) -> TransactGetItem {
        let get = Get::builder().table_name(&self.table).set_key(Some(key("tx", placed))).build().unwrap();
        TransactGetItem::builder().get(get).build()
    }

    async fn runs_transactions(&self) -> Outcome {
        let token = &self.table[self.table.len() - 20..];
        for _ in 0..2 {
            let transaction = self.client.transact_write_items().transact_items(self.put(1)).transact_items(self.put(2));
            transaction.client_request_token(token).send().await?;
        }
        let other = self.client.transact_write_items().transact_items(self.put(9)).client_request_token(token).send().await;
        let refused = other.unwrap_err().into_service_error();
        assert!(refused.is_idempotent_parameter_mismatch_exception(), "{refused:?}");
        let guard = ConditionCheck::builder()
            .table_name(&self.table)
            .set_key(Some(key("tx", 1)))
            .condition_expression("attribute_not_exists(customer)")
            .build()?;
        let guard = TransactWriteItem::builder().condition_check(guard).build();
        let write = self.client.transact_write_items().transact_items(self.put(3)).transact_items(guard).send().await;
        let refused = write.unwrap_err().into_service_error();
        let TransactWriteItemsError::TransactionCanceledException(cancelled) = refused else { panic!("{refused:?}") };
        let codes: Vec<&str> = cancelled.cancellation_reasons().iter().filter_map(|reason| reason.code()).collect();
        assert_eq!(codes, ["None", "ConditionalCheckFailed"]);
        let found = self.client.transact_get_items().transact_items(self.get(1)).transact_items(self.get(3)).send().await?;
        let there: Vec<bool> = found.responses().iter().map(|response| response.item.is_some()).collect();
        assert_eq!(there, [true, false]);
        Ok(())
    }

    async fn runs_statements(&self) -> Outcome {
        let statement = format!(r#"SELECT placed FROM "{}" WHERE customer = ? AND placed >= ?"#, self.table);
        let found = self.client.execute_statement().statement(statement).parameters(text("bob")).parameters(number(55)).send().await?;
        assert_eq!(found.items().len(), 5);
        Ok(())
    }

    async fn names_errors(&self) -> Outcome {
        let missing = self.client.get_item().table_name("missing").set_key(Some(key("x", 1))).send().await.unwrap_err();
        assert!(missing.into_service_error().is_resource_not_found_exception());
        let get = self.client.get_item().table_name(&self.table).set_key(Some(key("x", 1)));
        let syntax = get.projection_expression("a,,b").send().await.unwrap_err();
        assert_eq!(code(&syntax), "ValidationException");
        Ok(())
    }

    async fn drops_table(&self) -> Outcome {
        self.client.delete_table().table_name(&self.table).send().await?;
        self.client.wait_until_table_not_exists().table_name(&self.table).wait(WAIT).await?;
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Outcome {
    let settings = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .endpoint_url(std::env::args().nth(1).expect("the server's address"))
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "static"))
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .build();
    let moment = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let tour = Tour { client: Client::from_conf(settings), table: format!("rust-{}-{moment}", std::process::id()) };
    tour.creates_table().await?;
    tour.keeps_every_type().await?;
    tour.changes_items().await?;
    tour.reads_in_pages().await?;
    tour.runs_transactions().await?;
    tour.runs_statements().await?;
    tour.names_errors().await?;
    tour.drops_table().await?;
    println!("tour complete");
    Ok(())
}
